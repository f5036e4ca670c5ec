// Integer arithmetic, extended precision and video instructions.
#pragma once
#include "form.cuh"

#define INT2(OP)                      \
  FORM2(OP ".u16", h, h, h, "ii")     \
  FORM2(OP ".s16", h, h, h, "ii")     \
  FORM2(OP ".u32", r, r, r, "ii")     \
  FORM2(OP ".s32", r, r, r, "ii")     \
  FORM2(OP ".u64", l, l, l, "ii")     \
  FORM2(OP ".s64", l, l, l, "ii")
#define INT3(OP)                        \
  FORM3(OP ".u16", h, h, h, h, "iii")   \
  FORM3(OP ".s16", h, h, h, h, "iii")   \
  FORM3(OP ".u32", r, r, r, r, "iii")   \
  FORM3(OP ".s32", r, r, r, r, "iii")   \
  FORM3(OP ".u64", l, l, l, l, "iii")   \
  FORM3(OP ".s64", l, l, l, l, "iii")
INT2("add")
INT2("sub")
INT2("mul.lo")
INT2("mul.hi")
INT2("div")
INT2("rem")
INT2("min")
INT2("max")
INT3("mad.lo")
INT3("mad.hi")
INT3("sad")
FORM2("mul.wide.u16", r, h, h, "ii")
FORM2("mul.wide.s16", r, h, h, "ii")
FORM2("mul.wide.u32", l, r, r, "ii")
FORM2("mul.wide.s32", l, r, r, "ii")
FORM3("mad.wide.u16", r, h, h, r, "iii")
FORM3("mad.wide.s16", r, h, h, r, "iii")
FORM3("mad.wide.u32", l, r, r, l, "iii")
FORM3("mad.wide.s32", l, r, r, l, "iii")
FORM2("add.sat.s32", r, r, r, "ii")
FORM2("sub.sat.s32", r, r, r, "ii")
FORM3("mad.hi.sat.s32", r, r, r, r, "iii")
FORM1("neg.s16", h, h, "i")
FORM1("neg.s32", r, r, "i")
FORM1("neg.s64", l, l, "i")
FORM1("abs.s16", h, h, "i")
FORM1("abs.s32", r, r, "i")
FORM1("abs.s64", l, l, "i")
FORM2("mul24.lo.u32", r, r, r, "ii")
FORM2("mul24.lo.s32", r, r, r, "ii")
FORM2("mul24.hi.u32", r, r, r, "ii")
FORM2("mul24.hi.s32", r, r, r, "ii")
FORM3("mad24.lo.u32", r, r, r, r, "iii")
FORM3("mad24.lo.s32", r, r, r, r, "iii")
FORM3("mad24.hi.u32", r, r, r, r, "iii")
FORM3("mad24.hi.s32", r, r, r, r, "iii")
FORM3("mad24.hi.sat.s32", r, r, r, r, "iii")
FORM2("add.u16x2", r, r, r, "ii")
FORM2("add.s16x2", r, r, r, "ii")
FORM2("min.u16x2", r, r, r, "ii")
FORM2("min.s16x2", r, r, r, "ii")
FORM2("max.u16x2", r, r, r, "ii")
FORM2("max.s16x2", r, r, r, "ii")
FORM2("min.relu.s16x2", r, r, r, "ii")
FORM2("max.relu.s16x2", r, r, r, "ii")
FORM2("min.relu.s32", r, r, r, "ii")
FORM2("max.relu.s32", r, r, r, "ii")
FORM3("dp4a.u32.u32", r, r, r, r, "iii")
FORM3("dp4a.u32.s32", r, r, r, r, "iii")
FORM3("dp4a.s32.u32", r, r, r, r, "iii")
FORM3("dp4a.s32.s32", r, r, r, r, "iii")
FORM3("dp2a.lo.u32.u32", r, r, r, r, "iii")
FORM3("dp2a.lo.u32.s32", r, r, r, r, "iii")
FORM3("dp2a.lo.s32.u32", r, r, r, r, "iii")
FORM3("dp2a.lo.s32.s32", r, r, r, r, "iii")
FORM3("dp2a.hi.u32.u32", r, r, r, r, "iii")
FORM3("dp2a.hi.u32.s32", r, r, r, r, "iii")
FORM3("dp2a.hi.s32.u32", r, r, r, r, "iii")
FORM3("dp2a.hi.s32.s32", r, r, r, r, "iii")

// The output carry is 0 + 0 + CC.CF. The input carry is that of c + -1.
#define CARRY_OUT(OP, T, L) \
  FORMX(OP ".cc." T " carry", "{" OP ".cc." T " %0, %1, %2; addc." T " %0, 0, 0;}", L, L, L, L, "iii")
#define CARRY_IN(OP, T, B, L)                                                                \
  FORMX(OP "." T, "{.reg .b" B " t; add.cc." T " t, %3, -1; " OP "." T " %0, %1, %2;}", L, L, L, L, \
        "iip")                                                                               \
  FORMX(OP ".cc." T " carry",                                                                \
        "{.reg .b" B " t; add.cc." T " t, %3, -1; " OP ".cc." T " t, %1, %2; addc." T " %0, 0, 0;}", L, \
        L, L, L, "iip")
#define CARRY_MAD(T, B, L, HALF)                                                             \
  FORMX("mad." HALF ".cc." T " carry",                                                       \
        "{mad." HALF ".cc." T " %0, %1, %2, %3; addc." T " %0, 0, 0;}", L, L, L, L, "iii")     \
  FORMX("madc." HALF "." T,                                                                  \
        "{.reg .b" B " t; add.cc." T " t, %3, -1; madc." HALF "." T " %0, %1, %2, %3;}", L, L, L, L, \
        "iip")                                                                               \
  FORMX("madc." HALF ".cc." T " carry",                                                      \
        "{.reg .b" B " t; add.cc." T " t, %3, -1; madc." HALF ".cc." T                         \
        " t, %1, %2, %2; addc." T " %0, 0, 0;}",                                             \
        L, L, L, L, "iip")
#define CARRY(T, B, L)        \
  CARRY_OUT("add", T, L)      \
  CARRY_OUT("sub", T, L)      \
  CARRY_IN("addc", T, B, L)   \
  CARRY_IN("subc", T, B, L)   \
  CARRY_MAD(T, B, L, "lo")    \
  CARRY_MAD(T, B, L, "hi")
CARRY("u32", "32", r)
CARRY("s32", "32", r)
CARRY("u64", "64", l)
CARRY("s64", "64", l)

#define VIDEO_TYPES(OP)                         \
  FORM2(OP ".u32.u32.u32", r, r, r, "ii")       \
  FORM2(OP ".s32.s32.s32", r, r, r, "ii")       \
  FORM2(OP ".s32.u32.s32", r, r, r, "ii")       \
  FORM2(OP ".u32.s32.u32", r, r, r, "ii")       \
  FORM2(OP ".u32.s32.s32.sat", r, r, r, "ii")   \
  FORM2(OP ".s32.u32.u32.sat", r, r, r, "ii")   \
  FORM3(OP ".u32.u32.u32.add", r, r, r, r, "iii") \
  FORM3(OP ".s32.s32.s32.sat.min", r, r, r, r, "iii") \
  FORM3(OP ".u32.s32.s32.max", r, r, r, r, "iii") \
  FORMX(OP ".s32.u32.s32.sat b2 h1", OP ".s32.u32.s32.sat %0, %1.b2, %2.h1;", r, r, r, r, "iii") \
  FORMX(OP ".s32.s32.s32.sat into b1", OP ".s32.s32.s32.sat %0.b1, %1.b0, %2.b3, %3;", r, r, r, r, \
        "iii")                                  \
  FORMX(OP ".u32.u32.u32 into h1", OP ".u32.u32.u32 %0.h1, %1, %2.h0, %3;", r, r, r, r, "iii")
VIDEO_TYPES("vadd")
VIDEO_TYPES("vsub")
VIDEO_TYPES("vabsdiff")
VIDEO_TYPES("vmin")
VIDEO_TYPES("vmax")
#define VIDEO_SHIFTS(OP, MODE)                       \
  FORM2(OP ".u32.u32.u32." MODE, r, r, r, "is")      \
  FORM2(OP ".s32.s32.u32." MODE, r, r, r, "is")      \
  FORM2(OP ".u32.s32.u32.sat." MODE, r, r, r, "is")  \
  FORM3(OP ".s32.u32.u32.sat." MODE ".add", r, r, r, r, "isi")
VIDEO_SHIFTS("vshl", "clamp")
VIDEO_SHIFTS("vshl", "wrap")
VIDEO_SHIFTS("vshr", "clamp")
VIDEO_SHIFTS("vshr", "wrap")
FORM3("vmad.u32.u32.u32", r, r, r, r, "iii")
FORM3("vmad.s32.s32.s32", r, r, r, r, "iii")
FORM3("vmad.s32.u32.s32.sat", r, r, r, r, "iii")
FORM3("vmad.u32.u32.u32.sat.shr7", r, r, r, r, "iii")
FORM3("vmad.s32.s32.s32.shr15", r, r, r, r, "iii")
FORM3("vmad.u32.u32.u32.po", r, r, r, r, "iii")
FORMX("vmad.s32.s32.s32 -a", "vmad.s32.s32.s32 %0, -%1, %2, %3;", r, r, r, r, "iii")
FORMX("vmad.s32.s32.s32.sat -c", "vmad.s32.s32.s32.sat %0, %1, %2, -%3;", r, r, r, r, "iii")
#define VIDEO_TEST(CMP)                            \
  FORM2("vset.u32.u32." CMP, r, r, r, "ii")        \
  FORM2("vset.s32.u32." CMP, r, r, r, "ii")        \
  FORM3("vset.s32.s32." CMP ".add", r, r, r, r, "iii") \
  FORM3("vset2.u32.u32." CMP, r, r, r, r, "iii")   \
  FORM3("vset2.s32.s32." CMP ".add", r, r, r, r, "iii") \
  FORM3("vset4.u32.u32." CMP, r, r, r, r, "iii")   \
  FORM3("vset4.s32.s32." CMP ".add", r, r, r, r, "iii")
VIDEO_TEST("eq")
VIDEO_TEST("ne")
VIDEO_TEST("lt")
VIDEO_TEST("le")
VIDEO_TEST("gt")
VIDEO_TEST("ge")
#define VIDEO_SIMD(OP)                              \
  FORM3(OP ".u32.u32.u32", r, r, r, r, "iii")       \
  FORM3(OP ".s32.s32.s32", r, r, r, r, "iii")       \
  FORM3(OP ".u32.s32.s32.sat", r, r, r, r, "iii")   \
  FORM3(OP ".s32.u32.u32.sat", r, r, r, r, "iii")   \
  FORM3(OP ".s32.u32.s32.sat", r, r, r, r, "iii")   \
  FORM3(OP ".u32.u32.u32.add", r, r, r, r, "iii")   \
  FORM3(OP ".s32.s32.s32.add", r, r, r, r, "iii")
VIDEO_SIMD("vadd2")
VIDEO_SIMD("vsub2")
VIDEO_SIMD("vavrg2")
VIDEO_SIMD("vabsdiff2")
VIDEO_SIMD("vmin2")
VIDEO_SIMD("vmax2")
VIDEO_SIMD("vadd4")
VIDEO_SIMD("vsub4")
VIDEO_SIMD("vavrg4")
VIDEO_SIMD("vabsdiff4")
VIDEO_SIMD("vmin4")
VIDEO_SIMD("vmax4")
FORMX("vadd4 parts", "vadd4.s32.s32.s32.sat %0.b20, %1.b0246, %2.b7531, %3;", r, r, r, r, "iii")
FORMX("vsub2 parts", "vsub2.u32.u32.u32 %0.h1, %1.h03, %2.h21, %3;", r, r, r, r, "iii")
