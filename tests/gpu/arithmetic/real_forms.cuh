// f32 and f64 arithmetic with exact results.
#pragma once
#include "form.cuh"

#define SINGLE2(OP, R)                     \
  FORM2(OP R ".f32", f, f, f, "ff")        \
  FORM2(OP R ".ftz.f32", f, f, f, "ff")
#define SINGLE2_SAT(OP, R)                 \
  SINGLE2(OP, R)                           \
  FORM2(OP R ".sat.f32", f, f, f, "ff")    \
  FORM2(OP R ".ftz.sat.f32", f, f, f, "ff")
#define SINGLE3_SAT(OP, R)                     \
  FORM3(OP R ".f32", f, f, f, f, "fff")        \
  FORM3(OP R ".ftz.f32", f, f, f, f, "fff")    \
  FORM3(OP R ".sat.f32", f, f, f, f, "fff")    \
  FORM3(OP R ".ftz.sat.f32", f, f, f, f, "fff")
#define IN_DIRECTION(R)                   \
  SINGLE2_SAT("add", R)                   \
  SINGLE2_SAT("sub", R)                   \
  SINGLE2_SAT("mul", R)                   \
  SINGLE3_SAT("fma", R)                   \
  FORM3("mad" R ".f32", f, f, f, f, "fff") \
  SINGLE2("div", R)                       \
  FORM1("rcp" R ".f32", f, f, "f")        \
  FORM1("rcp" R ".ftz.f32", f, f, "f")    \
  FORM1("sqrt" R ".f32", f, f, "f")       \
  FORM1("sqrt" R ".ftz.f32", f, f, "f")   \
  FORM2("add" R ".f64", d, d, d, "dd")    \
  FORM2("sub" R ".f64", d, d, d, "dd")    \
  FORM2("mul" R ".f64", d, d, d, "dd")    \
  FORM3("fma" R ".f64", d, d, d, d, "ddd") \
  FORM3("mad" R ".f64", d, d, d, d, "ddd") \
  FORM2("div" R ".f64", d, d, d, "dd")    \
  FORM1("rcp" R ".f64", d, d, "d")        \
  FORM1("sqrt" R ".f64", d, d, "d")
SINGLE2_SAT("add", "")
SINGLE2_SAT("sub", "")
SINGLE2_SAT("mul", "")
FORM2("add.f64", d, d, d, "dd")
FORM2("sub.f64", d, d, d, "dd")
FORM2("mul.f64", d, d, d, "dd")
IN_DIRECTION(".rn")
IN_DIRECTION(".rz")
IN_DIRECTION(".rm")
IN_DIRECTION(".rp")
#define EXTREMES(OP)                                      \
  SINGLE2(OP, "")                                         \
  FORM2(OP ".NaN.f32", f, f, f, "ff")                     \
  FORM2(OP ".ftz.NaN.f32", f, f, f, "ff")                 \
  FORM2(OP ".xorsign.abs.f32", f, f, f, "ff")             \
  FORM2(OP ".ftz.xorsign.abs.f32", f, f, f, "ff")         \
  FORM2(OP ".NaN.xorsign.abs.f32", f, f, f, "ff")         \
  FORM2(OP ".ftz.NaN.xorsign.abs.f32", f, f, f, "ff")     \
  FORM2(OP ".f64", d, d, d, "dd")
EXTREMES("min")
EXTREMES("max")
FORM1("abs.f32", f, f, "f")
FORM1("abs.ftz.f32", f, f, "f")
FORM1("abs.f64", d, d, "d")
FORM1("neg.f32", f, f, "f")
FORM1("neg.ftz.f32", f, f, "f")
FORM1("neg.f64", d, d, "d")
FORM2("copysign.f32", f, f, f, "ff")
FORM2("copysign.f64", d, d, d, "dd")
#define TESTP(Q)                                                                               \
  FORMX("testp." Q ".f32", "{.reg .pred p; testp." Q ".f32 p, %1; selp.u32 %0, 1, 0, p;}", r, f, r, \
        r, "fii")                                                                              \
  FORMX("testp." Q ".f64", "{.reg .pred p; testp." Q ".f64 p, %1; selp.u32 %0, 1, 0, p;}", r, d, r, \
        r, "dii")
TESTP("finite")
TESTP("infinite")
TESTP("number")
TESTP("notanumber")
TESTP("normal")
TESTP("subnormal")
