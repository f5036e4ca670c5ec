// cvt.
#pragma once
#include "form.cuh"

// From an integer type (its register S) to every other.
#define TO_INTEGERS(T, S)                       \
  FORM1("cvt.u8." T, r, S, "i")                 \
  FORM1("cvt.s8." T, r, S, "i")                 \
  FORM1("cvt.u16." T, h, S, "i")                \
  FORM1("cvt.s16." T, h, S, "i")                \
  FORM1("cvt.u32." T, r, S, "i")                \
  FORM1("cvt.s32." T, r, S, "i")                \
  FORM1("cvt.u64." T, l, S, "i")                \
  FORM1("cvt.s64." T, l, S, "i")                
// .sat where the destination's range does not hold the source's.
FORM1("cvt.sat.s8.u8", r, r, "i")
FORM1("cvt.sat.u8.s8", r, r, "i")
FORM1("cvt.sat.u16.s8", h, r, "i")
FORM1("cvt.sat.u32.s8", r, r, "i")
FORM1("cvt.sat.u64.s8", l, r, "i")
FORM1("cvt.sat.u8.u16", r, h, "i")
FORM1("cvt.sat.s8.u16", r, h, "i")
FORM1("cvt.sat.s16.u16", h, h, "i")
FORM1("cvt.sat.u8.s16", r, h, "i")
FORM1("cvt.sat.s8.s16", r, h, "i")
FORM1("cvt.sat.u16.s16", h, h, "i")
FORM1("cvt.sat.u32.s16", r, h, "i")
FORM1("cvt.sat.u64.s16", l, h, "i")
FORM1("cvt.sat.u8.u32", r, r, "i")
FORM1("cvt.sat.s8.u32", r, r, "i")
FORM1("cvt.sat.u16.u32", h, r, "i")
FORM1("cvt.sat.s16.u32", h, r, "i")
FORM1("cvt.sat.s32.u32", r, r, "i")
FORM1("cvt.sat.u8.s32", r, r, "i")
FORM1("cvt.sat.s8.s32", r, r, "i")
FORM1("cvt.sat.u16.s32", h, r, "i")
FORM1("cvt.sat.s16.s32", h, r, "i")
FORM1("cvt.sat.u32.s32", r, r, "i")
FORM1("cvt.sat.u64.s32", l, r, "i")
FORM1("cvt.sat.u8.u64", r, l, "i")
FORM1("cvt.sat.s8.u64", r, l, "i")
FORM1("cvt.sat.u16.u64", h, l, "i")
FORM1("cvt.sat.s16.u64", h, l, "i")
FORM1("cvt.sat.u32.u64", r, l, "i")
FORM1("cvt.sat.s32.u64", r, l, "i")
FORM1("cvt.sat.s64.u64", l, l, "i")
FORM1("cvt.sat.u8.s64", r, l, "i")
FORM1("cvt.sat.s8.s64", r, l, "i")
FORM1("cvt.sat.u16.s64", h, l, "i")
FORM1("cvt.sat.s16.s64", h, l, "i")
FORM1("cvt.sat.u32.s64", r, l, "i")
FORM1("cvt.sat.s32.s64", r, l, "i")
FORM1("cvt.sat.u64.s64", l, l, "i")
#define TO_REALS(R, T, S)                       \
  FORM1("cvt" R ".f16." T, h, S, "i")           \
  FORM1("cvt" R ".f32." T, f, S, "i")           \
  FORM1("cvt" R ".f64." T, d, S, "i")
#define INTEGER(T, S)       \
  TO_INTEGERS(T, S)         \
  TO_REALS(".rn", T, S)     \
  TO_REALS(".rz", T, S)     \
  TO_REALS(".rm", T, S)     \
  TO_REALS(".rp", T, S)     \
  FORM1("cvt.rn.sat.f32." T, f, S, "i") \
  FORM1("cvt.rn.sat.f16." T, h, S, "i")
INTEGER("u8", r)
INTEGER("s8", r)
INTEGER("u16", h)
INTEGER("s16", h)
INTEGER("u32", r)
INTEGER("s32", r)
INTEGER("u64", l)
INTEGER("s64", l)
// bf16 and 8-bit integers do not convert into each other.
#define TO_BF16(R)                              \
  FORM1("cvt" R ".bf16.u16", h, h, "i")         \
  FORM1("cvt" R ".bf16.s16", h, h, "i")         \
  FORM1("cvt" R ".bf16.u32", h, r, "i")         \
  FORM1("cvt" R ".bf16.s32", h, r, "i")         \
  FORM1("cvt" R ".bf16.u64", h, l, "i")         \
  FORM1("cvt" R ".bf16.s64", h, l, "i")
TO_BF16(".rn")
TO_BF16(".rz")
TO_BF16(".rm")
TO_BF16(".rp")

#define FROM_REAL(R, T, S, K)                   \
  FORM1("cvt" R ".u8." T, r, S, K)              \
  FORM1("cvt" R ".s8." T, r, S, K)              \
  FORM1("cvt" R ".u16." T, h, S, K)             \
  FORM1("cvt" R ".s16." T, h, S, K)             \
  FORM1("cvt" R ".u32." T, r, S, K)             \
  FORM1("cvt" R ".s32." T, r, S, K)             \
  FORM1("cvt" R ".u64." T, l, S, K)             \
  FORM1("cvt" R ".s64." T, l, S, K)
#define FROM_REAL_ALL(M, T, S, K)   \
  FROM_REAL(".rni" M, T, S, K)      \
  FROM_REAL(".rzi" M, T, S, K)      \
  FROM_REAL(".rmi" M, T, S, K)      \
  FROM_REAL(".rpi" M, T, S, K)
FROM_REAL_ALL("", "f16", h, "h")
FROM_REAL_ALL("", "f32", f, "f")
FROM_REAL_ALL(".ftz", "f32", f, "f")
FROM_REAL_ALL("", "f64", d, "d")
#undef FROM_REAL
#define FROM_REAL(R, T, S, K)                   \
  FORM1("cvt" R ".u16." T, h, S, K)             \
  FORM1("cvt" R ".s16." T, h, S, K)             \
  FORM1("cvt" R ".u32." T, r, S, K)             \
  FORM1("cvt" R ".s32." T, r, S, K)             \
  FORM1("cvt" R ".u64." T, l, S, K)             \
  FORM1("cvt" R ".s64." T, l, S, K)
FROM_REAL_ALL("", "bf16", h, "b")
FORM1("cvt.rzi.sat.s32.f32", r, f, "f")
FORM1("cvt.rni.sat.u8.f32", r, f, "f")

#define NARROWING(R)                            \
  FORM1("cvt" R ".f32.f64", f, d, "d")          \
  FORM1("cvt" R ".ftz.f32.f64", f, d, "d")      \
  FORM1("cvt" R ".sat.f32.f64", f, d, "d")      \
  FORM1("cvt" R ".f16.f64", h, d, "d")          \
  FORM1("cvt" R ".f16.f32", h, f, "f")          \
  FORM1("cvt" R ".ftz.f16.f32", h, f, "f")      \
  FORM1("cvt" R ".sat.f16.f32", h, f, "f")      \
  FORM1("cvt" R ".bf16.f64", h, d, "d")         \
  FORM1("cvt" R ".bf16.f32", h, f, "f")         \
  FORM1("cvt" R ".bf16.f16", h, h, "h")         \
  FORM1("cvt" R ".f16.bf16", h, h, "b")
NARROWING(".rn")
NARROWING(".rz")
NARROWING(".rm")
NARROWING(".rp")
#define RELU(R)                                                   \
  FORM1("cvt" R ".relu.f16.f32", h, f, "f")                       \
  FORM1("cvt" R ".relu.bf16.f32", h, f, "f")                      \
  FORM2("cvt" R ".f16x2.f32", r, f, f, "ff")                      \
  FORM2("cvt" R ".relu.f16x2.f32", r, f, f, "ff")                 \
  FORM2("cvt" R ".bf16x2.f32", r, f, f, "ff")                     \
  FORM2("cvt" R ".relu.bf16x2.f32", r, f, f, "ff")                \
  FORM1("cvt" R ".tf32.f32", r, f, "f")                           \
  FORM1("cvt" R ".relu.tf32.f32", r, f, "f")
RELU(".rn")
RELU(".rz")
FORM1("cvt.rna.tf32.f32", r, f, "f")
FORM1("cvt.f32.f16", f, h, "h")
FORM1("cvt.ftz.f32.f16", f, h, "h")
FORM1("cvt.sat.f32.f16", f, h, "h")
FORM1("cvt.f64.f16", d, h, "h")
FORM1("cvt.f32.bf16", f, h, "b")
FORM1("cvt.f64.bf16", d, h, "b")
FORM1("cvt.f64.f32", d, f, "f")
FORM1("cvt.ftz.f64.f32", d, f, "f")
FORM1("cvt.sat.f64.f32", d, f, "f")
FORM1("cvt.sat.f32.f32", f, f, "f")
FORM1("cvt.ftz.sat.f32.f32", f, f, "f")
FORM1("cvt.ftz.f32.f32", f, f, "f")
FORM1("cvt.sat.f64.f64", d, d, "d")
FORM1("cvt.sat.f16.f16", h, h, "h")
#define INTEGRAL(R)                             \
  FORM1("cvt" R ".f32.f32", f, f, "f")          \
  FORM1("cvt" R ".ftz.f32.f32", f, f, "f")      \
  FORM1("cvt" R ".sat.f32.f32", f, f, "f")      \
  FORM1("cvt" R ".f64.f64", d, d, "d")          \
  FORM1("cvt" R ".sat.f64.f64", d, d, "d")      \
  FORM1("cvt" R ".f16.f16", h, h, "h")          \
  FORM1("cvt" R ".bf16.bf16", h, h, "b")
INTEGRAL(".rni")
INTEGRAL(".rzi")
INTEGRAL(".rmi")
INTEGRAL(".rpi")
#define BYTES(T)                                              \
  FORM2("cvt.rn.satfinite." T ".f32", h, f, f, "ff")          \
  FORM2("cvt.rn.satfinite.relu." T ".f32", h, f, f, "ff")     \
  FORM1("cvt.rn.satfinite." T ".f16x2", h, r, "H")            \
  FORM1("cvt.rn.satfinite.relu." T ".f16x2", h, r, "H")       \
  FORM1("cvt.rn.f16x2." T, r, h, "e")                         \
  FORM1("cvt.rn.relu.f16x2." T, r, h, "e")
BYTES("e4m3x2")
BYTES("e5m2x2")
FORM2("cvt.pack.sat.u16.s32", r, r, r, "ii")
FORM2("cvt.pack.sat.s16.s32", r, r, r, "ii")
FORM3("cvt.pack.sat.u8.s32.b32", r, r, r, r, "iii")
FORM3("cvt.pack.sat.s8.s32.b32", r, r, r, r, "iii")
