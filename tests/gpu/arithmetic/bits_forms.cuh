// Logic, shifts, bit fields and selection.
#pragma once
#include "form.cuh"

#define BITS2(OP)                  \
  FORM2(OP ".b16", h, h, h, "ii")  \
  FORM2(OP ".b32", r, r, r, "ii")  \
  FORM2(OP ".b64", l, l, l, "ii")
BITS2("and")
BITS2("or")
BITS2("xor")
FORM1("not.b16", h, h, "i")
FORM1("not.b32", r, r, "i")
FORM1("not.b64", l, l, "i")
FORM1("cnot.b16", h, h, "i")
FORM1("cnot.b32", r, r, "i")
FORM1("cnot.b64", l, l, "i")
#define SHIFTS(OP, B)                   \
  FORM2(OP "." B "16", h, h, r, "is")   \
  FORM2(OP "." B "32", r, r, r, "is")   \
  FORM2(OP "." B "64", l, l, r, "is")
SHIFTS("shl", "b")
SHIFTS("shr", "b")
SHIFTS("shr", "u")
SHIFTS("shr", "s")
FORM3("shf.l.wrap.b32", r, r, r, r, "iis")
FORM3("shf.l.clamp.b32", r, r, r, r, "iis")
FORM3("shf.r.wrap.b32", r, r, r, r, "iis")
FORM3("shf.r.clamp.b32", r, r, r, r, "iis")
#define LOP3(TABLE) \
  FORMX("lop3.b32 " TABLE, "lop3.b32 %0, %1, %2, %3, " TABLE ";", r, r, r, r, "iii")
LOP3("0x00")
LOP3("0xff")
LOP3("0x80")
LOP3("0x96")
LOP3("0xe8")
LOP3("0x1a")
LOP3("0xca")
LOP3("0x2d")
FORMX("lop3.or.b32",
      "{.reg .pred p, q; .reg .b32 t, u; setp.gt.s32 q, %3, 5; lop3.or.b32 t|p, %1, %2, %3, 0x80, q;"
      " selp.u32 u, 3, 0, p; xor.b32 %0, t, u;}",
      r, r, r, r, "iii")
FORMX("lop3.and.b32",
      "{.reg .pred p, q; .reg .b32 t, u; setp.gt.s32 q, %3, 5; lop3.and.b32 t|p, %1, %2, %3, 0x6a, q;"
      " selp.u32 u, 3, 0, p; xor.b32 %0, t, u;}",
      r, r, r, r, "iii")
FORM3("bfe.u32", r, r, r, r, "iss")
FORM3("bfe.s32", r, r, r, r, "iss")
FORM3("bfe.u64", l, l, r, r, "iss")
FORM3("bfe.s64", l, l, r, r, "iss")
FORMX("bfi.b32 length 5", "bfi.b32 %0, %1, %2, %3, 5;", r, r, r, r, "iis")
FORMX("bfi.b32 position 9", "bfi.b32 %0, %1, %2, 9, %3;", r, r, r, r, "iis")
FORMX("bfi.b64 length 21", "bfi.b64 %0, %1, %2, %3, 21;", l, l, l, r, "iis")
FORMX("bfi.b64 position 40", "bfi.b64 %0, %1, %2, 40, %3;", l, l, l, r, "iis")
FORM1("bfind.u32", r, r, "i")
FORM1("bfind.s32", r, r, "i")
FORM1("bfind.u64", r, l, "i")
FORM1("bfind.s64", r, l, "i")
FORM1("bfind.shiftamt.u32", r, r, "i")
FORM1("bfind.shiftamt.s32", r, r, "i")
FORM1("bfind.shiftamt.u64", r, l, "i")
FORM1("bfind.shiftamt.s64", r, l, "i")
FORM1("brev.b32", r, r, "i")
FORM1("brev.b64", l, l, "i")
FORM1("clz.b32", r, r, "i")
FORM1("clz.b64", r, l, "i")
FORM1("popc.b32", r, r, "i")
FORM1("popc.b64", r, l, "i")
FORMX("fns.b32", "{.reg .b32 t; and.b32 t, %2, 31; fns.b32 %0, %1, t, %3;}", r, r, r, r, "iit")
FORM2("bmsk.clamp.b32", r, r, r, "ss")
FORM2("bmsk.wrap.b32", r, r, r, "ss")
FORM2("szext.clamp.u32", r, r, r, "is")
FORM2("szext.clamp.s32", r, r, r, "is")
FORM2("szext.wrap.u32", r, r, r, "is")
FORM2("szext.wrap.s32", r, r, r, "is")
FORM3("prmt.b32", r, r, r, r, "iii")
FORM3("prmt.b32.f4e", r, r, r, r, "iii")
FORM3("prmt.b32.b4e", r, r, r, r, "iii")
FORM3("prmt.b32.rc8", r, r, r, r, "iii")
FORM3("prmt.b32.ecl", r, r, r, r, "iii")
FORM3("prmt.b32.ecr", r, r, r, r, "iii")
FORM3("prmt.b32.rc16", r, r, r, r, "iii")
#define SELP(T, L, K) \
  FORMX("selp." T, "{.reg .pred p; setp.ne.u32 p, %3, 0; selp." T " %0, %1, %2, p;}", L, L, L, r, K "p")
SELP("b16", h, "ii")
SELP("b32", r, "ii")
SELP("b64", l, "ii")
SELP("u16", h, "ii")
SELP("s64", l, "ii")
SELP("f32", f, "ff")
SELP("f64", d, "dd")
FORM3("slct.u16.s32", h, h, h, r, "iii")
FORM3("slct.b32.s32", r, r, r, r, "iii")
FORM3("slct.s64.s32", l, l, l, r, "iii")
FORM3("slct.f32.f32", f, f, f, f, "fff")
FORM3("slct.ftz.f32.f32", f, f, f, f, "fff")
FORM3("slct.f64.f32", d, d, d, f, "ddf")
FORM3("slct.ftz.u32.f32", r, r, r, f, "iif")
#define PREDICATES(OP)                                                                         \
  FORMX(OP ".pred",                                                                            \
        "{.reg .pred p, q, s; setp.ne.u32 p, %1, 0; setp.eq.u32 q, %2, 0; " OP ".pred s, p, q; " \
        "selp.u32 %0, %3, 0, s;}",                                                             \
        r, r, r, r, "ppi")
PREDICATES("and")
PREDICATES("or")
PREDICATES("xor")
