// setp and set.
#pragma once
#include "form.cuh"

#define SETP(C, T, L, K)                                                                        \
  FORMX("setp." C "." T, "{.reg .pred p; setp." C "." T " p, %1, %2; selp.u32 %0, 1, 0, p;}", r, L, L, \
        r, K "i")
#define SETP_WITH(C, B, T, L, K)                                                                \
  FORMX("setp." C "." B "." T " p|q",                                                           \
        "{.reg .pred p, q, s; .reg .b32 t, u; setp.ne.u32 s, %3, 0; setp." C "." B "." T          \
        " p|q, %1, %2, !s; selp.u32 t, 1, 0, p; selp.u32 u, 2, 0, q; or.b32 %0, t, u;}",        \
        r, L, L, r, K "p")
#define SET(C, D, T, R, L, K) FORM2("set." C "." D "." T, R, L, L, K)
#define SET_WITH(C, B, D, T, R, L, K)                                                           \
  FORMX("set." C "." B "." D "." T,                                                             \
        "{.reg .pred s; setp.ne.u32 s, %3, 0; set." C "." B "." D "." T " %0, %1, %2, s;}", R, L, L, \
        r, K "p")

#define EQUALITIES(T, L) SETP("eq", T, L, "ii") SETP("ne", T, L, "ii")
#define ORDERS(T, L)                            \
  EQUALITIES(T, L)                              \
  SETP("lt", T, L, "ii") SETP("le", T, L, "ii") \
  SETP("gt", T, L, "ii") SETP("ge", T, L, "ii") \
  SETP_WITH("lt", "and", T, L, "ii")            \
  SETP_WITH("ge", "xor", T, L, "ii")            \
  SET("le", "u32", T, r, L, "ii")               \
  SET("gt", "f32", T, f, L, "ii")               \
  SET_WITH("lt", "or", "s32", T, r, L, "ii")
#define UNSIGNED_ORDERS(T, L)                   \
  ORDERS(T, L)                                  \
  SETP("lo", T, L, "ii") SETP("ls", T, L, "ii") \
  SETP("hi", T, L, "ii") SETP("hs", T, L, "ii")
EQUALITIES("b16", h)
EQUALITIES("b32", r)
EQUALITIES("b64", l)
UNSIGNED_ORDERS("u16", h)
UNSIGNED_ORDERS("u32", r)
UNSIGNED_ORDERS("u64", l)
ORDERS("s16", h)
ORDERS("s32", r)
ORDERS("s64", l)

#define REAL_ORDERS(M, T, L, K)                           \
  SETP("eq" M, T, L, K) SETP("ne" M, T, L, K)             \
  SETP("lt" M, T, L, K) SETP("le" M, T, L, K)             \
  SETP("gt" M, T, L, K) SETP("ge" M, T, L, K)             \
  SETP("equ" M, T, L, K) SETP("neu" M, T, L, K)           \
  SETP("ltu" M, T, L, K) SETP("leu" M, T, L, K)           \
  SETP("gtu" M, T, L, K) SETP("geu" M, T, L, K)           \
  SETP("num" M, T, L, K) SETP("nan" M, T, L, K)
REAL_ORDERS("", "f32", f, "ff")
REAL_ORDERS(".ftz", "f32", f, "ff")
REAL_ORDERS("", "f64", d, "dd")
REAL_ORDERS("", "f16", h, "hh")
REAL_ORDERS(".ftz", "f16", h, "hh")
REAL_ORDERS("", "bf16", h, "bb")
SETP_WITH("lt", "and", "f32", f, "ff")
SETP_WITH("geu", "or", "f32", f, "ff")
SETP_WITH("ne", "xor.ftz", "f32", f, "ff")
SETP_WITH("leu", "and", "f64", d, "dd")
#define SETP_ONE(C, B, T, L, K)                                                                 \
  FORMX("setp." C "." B "." T,                                                                  \
        "{.reg .pred p, s; setp.ne.u32 s, %3, 0; setp." C "." B "." T " p, %1, %2, !s; "           \
        "selp.u32 %0, 1, 0, p;}",                                                               \
        r, L, L, r, K "p")
SETP_ONE("gt", "or", "f16", h, "hh")
SETP_ONE("nan", "xor", "bf16", h, "bb")
#define REAL_SETS(T, L, K)                           \
  SET("lt", "u32", T, r, L, K)                       \
  SET("geu", "s32", T, r, L, K)                      \
  SET("neu", "f32", T, f, L, K)                      \
  SET_WITH("eq", "and", "u32", T, r, L, K)           \
  SET_WITH("num", "xor", "f32", T, f, L, K)
REAL_SETS("f32", f, "ff")
REAL_SETS("f64", d, "dd")
SET("lt.ftz", "u32", "f32", r, f, "ff")
SET("eq", "f16", "f16", h, h, "hh")
SET("ltu", "f16", "f16", h, h, "hh")
SET("gt.ftz", "f16", "f16", h, h, "hh")
SET("lt", "u16", "f16", h, h, "hh")
SET("lt", "s32", "f16", r, h, "hh")
SET("ge", "f16", "s32", h, r, "ii")
SET("ge", "f16", "f32", h, f, "ff")
SET("eq", "bf16", "bf16", h, h, "bb")
SET("leu", "u32", "bf16", r, h, "bb")
SET("ne", "f16x2", "f16x2", r, r, "HH")
SET("geu", "f16x2", "f16x2", r, r, "HH")
SET("lt", "u32", "f16x2", r, r, "HH")
SET("lt", "bf16x2", "bf16x2", r, r, "BB")
SET("nan", "s32", "bf16x2", r, r, "BB")
SET_WITH("lt", "or", "f16x2", "f16x2", r, r, "HH")
#define PAIR_SETP(C, T, K)                                                                     \
  FORMX("setp." C "." T " p|q",                                                                \
        "{.reg .pred p, q; .reg .b32 t, u; setp." C "." T                                      \
        " p|q, %1, %2; selp.u32 t, 1, 0, p; selp.u32 u, 2, 0, q; or.b32 %0, t, u;}",           \
        r, r, r, r, K "i")
PAIR_SETP("lt", "f16x2", "HH")
PAIR_SETP("geu", "f16x2", "HH")
PAIR_SETP("lt.ftz", "f16x2", "HH")
PAIR_SETP("ne", "bf16x2", "BB")
PAIR_SETP("nan", "bf16x2", "BB")
SETP_WITH("le", "and", "f16x2", r, "HH")
SETP_WITH("gtu", "xor", "bf16x2", r, "BB")
