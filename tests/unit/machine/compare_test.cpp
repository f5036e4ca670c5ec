// setp and set in all forms: every comparison, NaNs, combination with a predicate, pairs.
#include "tests/unit/machine/exact_reference.hpp"

namespace inflight::machine {
namespace {

// lt, le, ... of values that may be NaN. A trailing u also holds for NaN.
bool holds(const std::string& question, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  if (question == "num") return !nan;
  if (question == "nan") return nan;
  if (nan) return question.size() == 3;
  const std::string q = question.substr(0, 2);
  if (q == "eq") return a == b;
  if (q == "ne") return a != b;
  if (q == "lt") return a < b;
  if (q == "le") return a <= b;
  return q == "gt" ? a > b : a >= b;
}
const char* const questions[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                 "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

TEST(Compare, FloatingPointWithNan) {
  std::vector<Check> c;
  for (const std::string q : questions) {
    c.push_back({"setp." + q + ".f32", "pff", "ff",
                 [q](u64 a, u64 b, u64) { return u64{holds(q, f32_of(a), f32_of(b))}; }});
    c.push_back({"setp." + q + ".ftz.f32", "pff", "ff", [q](u64 a, u64 b, u64) {
                   return u64{holds(q, flushed(f32_of(a)), flushed(f32_of(b)))};
                 }});
    c.push_back({"setp." + q + ".f64", "pdd", "dd",
                 [q](u64 a, u64 b, u64) { return u64{holds(q, f64_of(a), f64_of(b))}; }});
    c.push_back({"setp." + q + ".f16", "phh", "hh",
                 [q](u64 a, u64 b, u64) { return u64{holds(q, f16.value(a), f16.value(b))}; }});
    c.push_back({"setp." + q + ".bf16", "phh", "bb",
                 [q](u64 a, u64 b, u64) { return u64{holds(q, bf16.value(a), bf16.value(b))}; }});
  }
  run_checks(c);
}

template <class T, class F>
Check order(const char* text, const char* registers, F f) {
  return {text, registers, "ii",
          [f](u64 a, u64 b, u64) { return u64{f(static_cast<T>(a), static_cast<T>(b))}; }};
}
TEST(Compare, Integers) {
  run_checks({
      order<u16>("setp.lt.u16", "phh", [](auto a, auto b) { return a < b; }),
      order<s16>("setp.lt.s16", "phh", [](auto a, auto b) { return a < b; }),
      order<u32>("setp.le.u32", "prr", [](auto a, auto b) { return a <= b; }),
      order<s32>("setp.gt.s32", "prr", [](auto a, auto b) { return a > b; }),
      order<s32>("setp.ge.s32", "prr", [](auto a, auto b) { return a >= b; }),
      order<u64>("setp.hi.u64", "pll", [](auto a, auto b) { return a > b; }),
      order<u32>("setp.ls.u32", "prr", [](auto a, auto b) { return a <= b; }),
      order<u16>("setp.lo.u16", "phh", [](auto a, auto b) { return a < b; }),
      order<u64>("setp.hs.u64", "pll", [](auto a, auto b) { return a >= b; }),
      order<s64>("setp.lt.s64", "pll", [](auto a, auto b) { return a < b; }),
      order<u16>("setp.eq.b16", "phh", [](auto a, auto b) { return a == b; }),
      order<u64>("setp.ne.b64", "pll", [](auto a, auto b) { return a != b; }),
  });
}

TEST(Compare, CombinesWithAPredicateAndItsOpposite) {
  const auto both = [](const std::string& setp) {
    return "{.reg .pred %p, %q; .reg .b32 %x; " + setp +
           " selp.b32 $0, 1, 0, %p; selp.b32 %x, 2, 0, %q; or.b32 $0, $0, %x;}";
  };
  run_checks({
      {both("setp.lt.and.s32 %p|%q, $1, $2, $3;"), "rrrp", "iip",
       [](u64 a, u64 b, u64 c) {
         const bool t = s32(a) < s32(b);
         return u64{t && c} | u64{!t && c} << 1;
       }},
      {both("setp.eq.or.f32 %p|%q, $1, $2, !$3;"), "rffp", "ffp",
       [](u64 a, u64 b, u64 c) {
         const bool t = f32_of(a) == f32_of(b);
         return u64{t || !c} | u64{!t || !c} << 1;
       }},
      {both("setp.gtu.xor.f64 %p|%q, $1, $2, $3;"), "rddp", "ddp",
       [](u64 a, u64 b, u64 c) {
         const bool t = holds("gtu", f64_of(a), f64_of(b));
         return u64{t != (c != 0)} | u64{!t != (c != 0)} << 1;
       }},
      {both("setp.lt.f16x2 %p|%q, $1, $2;"), "rrr", "HH",
       [](u64 a, u64 b, u64) {
         const bool low = f16.value(a & 0xffff) < f16.value(b & 0xffff);
         const bool high = f16.value(a >> 16 & 0xffff) < f16.value(b >> 16 & 0xffff);
         return u64{low} | u64{high} << 1;
       }},
      {both("setp.geu.and.bf16x2 %p|%q, $1, $2, $3;"), "rrrp", "BBp",
       [](u64 a, u64 b, u64 c) {
         const bool low = holds("geu", bf16.value(a & 0xffff), bf16.value(b & 0xffff));
         const bool high = holds("geu", bf16.value(a >> 16 & 0xffff), bf16.value(b >> 16 & 0xffff));
         return u64{low && c} | u64{high && c} << 1;
       }},
  });
}

TEST(Compare, SetGivesOnesOrOne) {
  run_checks({
      {"set.lt.u32.s32", "rrr", "ii",
       [](u64 a, u64 b, u64) { return s32(a) < s32(b) ? 0xffffffff : u64{0}; }},
      {"set.ge.f32.u64", "fll", "ii",
       [](u64 a, u64 b, u64) { return a >= b ? 0x3f800000 : u64{0}; }},
      {"set.neu.or.s32.f64", "rddp", "ddp",
       [](u64 a, u64 b, u64 c) {
         return c || holds("neu", f64_of(a), f64_of(b)) ? 0xffffffff : u64{0};
       }},
      {"set.gt.f16.f16", "hhh", "hh",
       [](u64 a, u64 b, u64) { return f16.value(a) > f16.value(b) ? 0x3c00 : u64{0}; }},
      {"set.nan.bf16x2.bf16x2", "rrr", "BB",
       [](u64 a, u64 b, u64) {
         const auto part = [&](int at) {
           const u64 x = a >> at & 0xffff, y = b >> at & 0xffff;
           return bf16.is_nan(x) || bf16.is_nan(y) ? u64{0x3f80} << at : 0;
         };
         return part(0) | part(16);
       }},
      {"set.le.u32.f16x2", "rrr", "HH",
       [](u64 a, u64 b, u64) {
         const auto part = [&](int at) {
           return f16.value(a >> at & 0xffff) <= f16.value(b >> at & 0xffff) ? u64{0xffff} << at
                                                                             : 0;
         };
         return part(0) | part(16);
       }},
  });
}

}  // namespace
}  // namespace inflight::machine
