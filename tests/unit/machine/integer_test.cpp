// Integer arithmetic, compared with 128-bit arithmetic on the host.
#include <cmath>

#include "tests/unit/machine/arithmetic_runner.hpp"

namespace inflight::machine {
namespace {

using s128 = __int128;
using u128 = unsigned __int128;

template <class T>
const char* letter() {
  return sizeof(T) == 2 ? "h" : sizeof(T) == 4 ? "r" : "l";
}
template <class T>
std::string name() {
  return (std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));
}
template <class T>
u64 cell(s128 v) {
  return static_cast<std::make_unsigned_t<T>>(v);
}
template <class T>
using Function = s128 (*)(s128, s128, s128);

template <class T>
void add(std::vector<Check>& checks, const std::string& op, int sources, Function<T> f,
         const std::string& tail = {}) {
  std::string registers = letter<T>();
  for (int i = 0; i < sources; ++i) registers += letter<T>();
  checks.push_back(
      {op + "." + name<T>() + tail, registers, std::string(sources, 'i'), [f](u64 a, u64 b, u64 c) {
         return cell<T>(f(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c)));
       }});
}

template <class T>
std::vector<Check> arithmetic() {
  std::vector<Check> c;
  constexpr int width = 8 * sizeof(T);
  add<T>(c, "add", 2, [](s128 a, s128 b, s128) { return a + b; });
  add<T>(c, "sub", 2, [](s128 a, s128 b, s128) { return a - b; });
  add<T>(c, "mul.lo", 2, [](s128 a, s128 b, s128) { return s128(u128(a) * u128(b)); });
  add<T>(c, "mul.hi", 2, [](s128 a, s128 b, s128) {
    return std::is_signed_v<T> ? a * b >> width : s128(u128(a) * u128(b) >> width);
  });
  add<T>(c, "mad.lo", 3, [](s128 a, s128 b, s128 d) { return s128(u128(a) * u128(b) + u128(d)); });
  add<T>(c, "min", 2, [](s128 a, s128 b, s128) { return std::min(a, b); });
  add<T>(c, "max", 2, [](s128 a, s128 b, s128) { return std::max(a, b); });
  add<T>(c, "sad", 3, [](s128 a, s128 b, s128 d) { return d + (a < b ? b - a : a - b); });
  add<T>(c, "div", 2, [](s128 a, s128 b, s128) { return b == 0 ? s128{-1} : a / b; });
  add<T>(c, "rem", 2, [](s128 a, s128 b, s128) { return b == 0 ? s128{-1} : a % b; });
  if constexpr (std::is_signed_v<T>) {
    add<T>(c, "neg", 1, [](s128 a, s128, s128) { return -a; });
    add<T>(c, "abs", 1, [](s128 a, s128, s128) { return a < 0 ? -a : a; });
  }
  return c;
}

TEST(Integer, EveryWidthAgreesWithWideArithmetic) {
  run_checks(arithmetic<u16>());
  run_checks(arithmetic<s16>());
  run_checks(arithmetic<u32>());
  run_checks(arithmetic<s32>());
  run_checks(arithmetic<u64>());
  run_checks(arithmetic<s64>());
}

TEST(Integer, WideProductsKeepEveryBit) {
  run_checks({
      {"mul.wide.u16", "rhh", "ii", [](u64 a, u64 b, u64) { return u64{u32(u16(a)) * u16(b)}; }},
      {"mul.wide.s16", "rhh", "ii", [](u64 a, u64 b, u64) { return u64{u32(s16(a) * s16(b))}; }},
      {"mul.wide.u32", "lrr", "ii", [](u64 a, u64 b, u64) { return u64{u32(a)} * u32(b); }},
      {"mul.wide.s32", "lrr", "ii", [](u64 a, u64 b, u64) { return u64(s64{s32(a)} * s32(b)); }},
      {"mad.wide.s32", "lrrl", "iii",
       [](u64 a, u64 b, u64 c) { return u64(s64{s32(a)} * s32(b)) + c; }},
      {"mad.wide.u16", "rhhr", "iii",
       [](u64 a, u64 b, u64 c) { return u64{u32(u16(a)) * u16(b) + u32(c)}; }},
  });
}

u64 saturated(s64 v) { return u64{u32(std::clamp<s64>(v, INT32_MIN, INT32_MAX))}; }

TEST(Integer, SaturationClampsToTheRange) {
  run_checks({
      {"add.sat.s32", "rrr", "ii",
       [](u64 a, u64 b, u64) { return saturated(s64{s32(a)} + s32(b)); }},
      {"sub.sat.s32", "rrr", "ii",
       [](u64 a, u64 b, u64) { return saturated(s64{s32(a)} - s32(b)); }},
      {"mad.hi.sat.s32", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) { return saturated((s64{s32(a)} * s32(b) >> 32) + s32(c)); }},
  });
}

s64 low24(u64 x, bool is_signed) {
  const s64 v = s64(x & 0xffffff);
  return is_signed && v >= 0x800000 ? v - 0x1000000 : v;
}
TEST(Integer, TwentyFourBitProducts) {
  run_checks({
      {"mul24.lo.u32", "rrr", "ii",
       [](u64 a, u64 b, u64) { return u64{u32(low24(a, false) * low24(b, false))}; }},
      {"mul24.hi.u32", "rrr", "ii",
       [](u64 a, u64 b, u64) { return u64{u32(low24(a, false) * low24(b, false) >> 16)}; }},
      {"mul24.lo.s32", "rrr", "ii",
       [](u64 a, u64 b, u64) { return u64{u32(low24(a, true) * low24(b, true))}; }},
      {"mul24.hi.s32", "rrr", "ii",
       [](u64 a, u64 b, u64) { return u64{u32(low24(a, true) * low24(b, true) >> 16)}; }},
      {"mad24.lo.s32", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) {
         return u64{u32(low24(a, true) * low24(b, true)) + u32(c)} & 0xffffffff;
       }},
  });
}

TEST(Integer, CarriesPassThroughTheFlag) {
  // 128-bit sums and differences from four 32-bit or two 64-bit ones.
  const auto sum = [](u64 a, u64 b, u64 c) { return u64(((unsigned __int128)a + b) >> 64) + c; };
  const auto difference = [](u64 a, u64 b, u64 c) { return c - u64(a < b); };
  run_checks({
      {"{.reg .b64 %x; add.cc.u64 %x, $1, $2; addc.u64 $0, $3, 0;}", "llll", "iii", sum},
      {"{.reg .b64 %x; sub.cc.u64 %x, $1, $2; subc.u64 $0, $3, 0;}", "llll", "iii", difference},
      {"{.reg .b32 %a0,%a1,%b0,%b1,%x; mov.b64 {%a0,%a1}, $1; mov.b64 {%b0,%b1}, $2;"
       " add.cc.u32 %x, %a0, %b0; addc.cc.u32 %x, %a1, %b1; cvt.u32.u64 %x, $3; addc.u32 %x, %x, 0;"
       " cvt.u64.u32 $0, %x;}",
       "llll", "iii", [=](u64 a, u64 b, u64 c) { return u64{u32(sum(a, b, c))}; }},
      {"{.reg .b32 %a0,%a1,%b0,%b1,%x; mov.b64 {%a0,%a1}, $1; mov.b64 {%b0,%b1}, $2;"
       " sub.cc.u32 %x, %a0, %b0; subc.cc.u32 %x, %a1, %b1; cvt.u32.u64 %x, $3; subc.u32 %x, %x, 0;"
       " cvt.u64.u32 $0, %x;}",
       "llll", "iii", [=](u64 a, u64 b, u64 c) { return u64{u32(difference(a, b, c))}; }},
      // The high word of a 64-bit product plus c, in 32-bit steps.
      {"{.reg .b32 %x, %y; mad.lo.cc.u32 %x, $1, $2, $3; madc.hi.u32 $0, $1, $2, 0;}", "rrrr",
       "iii", [](u64 a, u64 b, u64 c) { return (u64{u32(a)} * u32(b) + u32(c)) >> 32; }},
      {"{.reg .b64 %x; mad.lo.cc.u64 %x, $1, $2, $3; madc.hi.u64 $0, $1, $2, 0;}", "llll", "iii",
       [](u64 a, u64 b, u64 c) { return u64(((unsigned __int128)a * b + c) >> 64); }},
  });
}

template <class A, class B>
u64 dot4(u64 a, u64 b, u64 c) {
  u32 sum = u32(c);
  for (int i = 0; i < 4; ++i) sum += u32(s32(A(a >> 8 * i)) * s32(B(b >> 8 * i)));
  return sum;
}
template <class A, class B>
u64 dot2(u64 a, u64 b, u64 c, int first) {
  u32 sum = u32(c);
  for (int i = 0; i < 2; ++i) sum += u32(s32(A(a >> 16 * i)) * s32(B(b >> 8 * (first + i))));
  return sum;
}
TEST(Integer, DotProducts) {
  run_checks({
      {"dp4a.u32.u32", "rrrr", "iii", dot4<u8, u8>},
      {"dp4a.u32.s32", "rrrr", "iii", dot4<u8, s8>},
      {"dp4a.s32.u32", "rrrr", "iii", dot4<s8, u8>},
      {"dp4a.s32.s32", "rrrr", "iii", dot4<s8, s8>},
      {"dp2a.lo.s32.u32", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) { return dot2<s16, u8>(a, b, c, 0); }},
      {"dp2a.hi.u32.s32", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) { return dot2<u16, s8>(a, b, c, 2); }},
  });
}

template <class T, class F>
u64 pairwise(u64 a, u64 b, F f) {
  return u64{u16(f(T(a), T(b)))} | u64{u16(f(T(a >> 16), T(b >> 16)))} << 16;
}
TEST(Integer, PairsOfHalves) {
  run_checks({
      {"add.u16x2", "rrr", "ii",
       [](u64 a, u64 b, u64) { return pairwise<u16>(a, b, [](int x, int y) { return x + y; }); }},
      {"min.s16x2", "rrr", "ii",
       [](u64 a, u64 b, u64) {
         return pairwise<s16>(a, b, [](int x, int y) { return std::min(x, y); });
       }},
      {"max.u16x2", "rrr", "ii",
       [](u64 a, u64 b, u64) {
         return pairwise<u16>(a, b, [](int x, int y) { return std::max(x, y); });
       }},
      {"max.relu.s16x2", "rrr", "ii",
       [](u64 a, u64 b, u64) {
         return pairwise<s16>(a, b, [](int x, int y) { return std::max({x, y, 0}); });
       }},
      {"min.relu.s32", "rrr", "ii",
       [](u64 a, u64 b, u64) { return u64(std::max(0, std::min(s32(a), s32(b)))); }},
  });
}

}  // namespace
}  // namespace inflight::machine
