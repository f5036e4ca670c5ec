// f16, bf16 and their pairs.
#pragma once
#include "form.cuh"

#define HALF2(OP, M)                        \
  FORM2(OP M ".f16", h, h, h, "hh")         \
  FORM2(OP M ".f16x2", r, r, r, "HH")
#define BFLOAT2(OP, M)                      \
  FORM2(OP M ".bf16", h, h, h, "bb")        \
  FORM2(OP M ".bf16x2", r, r, r, "BB")
#define SUMS(OP)              \
  HALF2(OP, "")               \
  HALF2(OP, ".rn")            \
  HALF2(OP, ".ftz")           \
  HALF2(OP, ".sat")           \
  HALF2(OP, ".rn.ftz.sat")    \
  BFLOAT2(OP, "")             \
  BFLOAT2(OP, ".rn")
SUMS("add")
SUMS("sub")
SUMS("mul")
#define HALF3(M)                                 \
  FORM3("fma.rn" M ".f16", h, h, h, h, "hhh")    \
  FORM3("fma.rn" M ".f16x2", r, r, r, r, "HHH")
#define BFLOAT3(M)                               \
  FORM3("fma.rn" M ".bf16", h, h, h, h, "bbb")   \
  FORM3("fma.rn" M ".bf16x2", r, r, r, r, "BBB")
HALF3("")
HALF3(".ftz")
HALF3(".sat")
HALF3(".ftz.sat")
HALF3(".relu")
HALF3(".ftz.relu")
HALF3(".oob")
HALF3(".oob.relu")
BFLOAT3("")
BFLOAT3(".relu")
BFLOAT3(".oob")
BFLOAT3(".oob.relu")
#define EXTREME_HALVES(OP)             \
  HALF2(OP, "")                        \
  HALF2(OP, ".ftz")                    \
  HALF2(OP, ".NaN")                    \
  HALF2(OP, ".ftz.NaN")                \
  HALF2(OP, ".xorsign.abs")            \
  HALF2(OP, ".ftz.NaN.xorsign.abs")    \
  BFLOAT2(OP, "")                      \
  BFLOAT2(OP, ".NaN")                  \
  BFLOAT2(OP, ".xorsign.abs")          \
  BFLOAT2(OP, ".NaN.xorsign.abs")
EXTREME_HALVES("min")
EXTREME_HALVES("max")
#define SIGNS(OP)                       \
  FORM1(OP ".f16", h, h, "h")           \
  FORM1(OP ".ftz.f16", h, h, "h")       \
  FORM1(OP ".f16x2", r, r, "H")         \
  FORM1(OP ".ftz.f16x2", r, r, "H")     \
  FORM1(OP ".bf16", h, h, "b")          \
  FORM1(OP ".bf16x2", r, r, "B")
SIGNS("abs")
SIGNS("neg")
