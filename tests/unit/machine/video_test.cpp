// Video instructions, compared with the specification's pseudo-code for some forms.
#include <algorithm>

#include "tests/unit/machine/arithmetic_runner.hpp"

namespace inflight::machine {
namespace {

u64 word(s64 v) { return u64{u32(v)}; }
s64 in_range(s64 v, s64 low, s64 high) { return std::clamp(v, low, high); }

TEST(Video, WordsWithSaturationAndASecondOperation) {
  run_checks({
      {"vadd.s32.u32.s32.sat", "rrr", "ii",
       [](u64 a, u64 b, u64) {
         return word(in_range(s64{u32(a)} + s32(b), INT32_MIN, INT32_MAX));
       }},
      {"vsub.u32.s32.s32.sat", "rrr", "ii",
       [](u64 a, u64 b, u64) { return word(in_range(s64{s32(a)} - s32(b), 0, UINT32_MAX)); }},
      {"vabsdiff.u32.s32.s32.add", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) { return word(std::abs(s64{s32(a)} - s32(b)) + s64{u32(c)}); }},
      {"vmin.s32.s32.s32.max", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) { return word(std::max(std::min(s32(a), s32(b)), s32(c))); }},
      {"vshl.u32.u32.u32.clamp", "rrr", "is",
       [](u64 a, u64 n, u64) { return word(s64(u64{u32(a)} << std::min<u64>(u32(n), 32))); }},
      {"vshr.s32.s32.u32.wrap", "rrr", "is",
       [](u64 a, u64 n, u64) { return word(s32(a) >> (n & 31)); }},
      {"vset.s32.u32.lt.add", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) { return word((s64{s32(a)} < s64{u32(b)}) + s64{u32(c)}); }},
  });
}

TEST(Video, PartsOfWords) {
  run_checks({
      {"vadd.s32.s32.u32 $0, $1.b3, $2.h1;", "rrr", "ii",
       [](u64 a, u64 b, u64) { return word(s8(a >> 24) + s64{u16(b >> 16)}); }},
      {"vsub.s32.s32.s32.sat $0.b2, $1, $2, $3;", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) {
         const s64 d = s64{s32(a)} - s32(b), v = d < 0 ? 127 : std::min<s64>(d, 127);
         return (u64{u32(c)} & ~u64{0xff0000}) | u64{u8(v)} << 16;
       }},
      {"vmax.u32.u32.u32 $0.h1, $1, $2.b0, $3;", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) {
         return (c & 0xffff) | (std::max<u64>(u32(a), b & 0xff) & 0xffff0000);
       }},
  });
}

TEST(Video, MultiplyAndAddWithScale) {
  run_checks({
      {"vmad.s32.s32.s32.shr15", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) { return word((s64{s32(a)} * s32(b) + s32(c)) >> 15); }},
      {"vmad.u32.u32.u32.sat", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) {
         const auto v = static_cast<unsigned __int128>(u32(a)) * u32(b) + u32(c);
         return v > UINT32_MAX ? u64{UINT32_MAX} : u64(v);
       }},
      {"vmad.u32.u32.u32.po", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) { return word(s64(u64{u32(a)} * u32(b) + u32(c) + 1)); }},
  });
}

template <class A, class B, int Width, class F>
u64 parts(u64 a, u64 b, F f) {
  u64 r = 0;
  for (int i = 0; i < 32; i += Width)
    r |= (u64(f(s64{A(a >> i)}, s64{B(b >> i)})) & ((1u << Width) - 1)) << i;
  return r;
}
TEST(Video, SimdHalvesAndBytes) {
  run_checks({
      {"vadd4.u32.u32.u32.sat", "rrrr", "iii",
       [](u64 a, u64 b, u64) {
         return parts<u8, u8, 8>(a, b, [](s64 x, s64 y) { return std::min<s64>(x + y, 255); });
       }},
      {"vsub2.s32.s32.s32.sat", "rrrr", "iii",
       [](u64 a, u64 b, u64) {
         return parts<s16, s16, 16>(a, b,
                                    [](s64 x, s64 y) { return in_range(x - y, -32768, 32767); });
       }},
      {"vavrg4.s32.s32.s32", "rrrr", "iii",
       [](u64 a, u64 b, u64) {
         return parts<s8, s8, 8>(a, b, [](s64 x, s64 y) { return (x + y + (x + y >= 0)) >> 1; });
       }},
      {"vset4.u32.u32.ge", "rrrr", "iii",
       [](u64 a, u64 b, u64) {
         return parts<u8, u8, 8>(a, b, [](s64 x, s64 y) { return x >= y; });
       }},
      {"vabsdiff4.u32.u32.u32.add", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) {
         s64 sum = u32(c);
         for (int i = 0; i < 32; i += 8) sum += std::abs(s64{u8(a >> i)} - s64{u8(b >> i)});
         return word(sum);
       }},
      {"vadd4.u32.u32.u32 $0.b20, $1.b0123, $2.b7654, $3;", "rrrr", "iii",
       [](u64 a, u64 b, u64 c) {
         u64 r = c & 0xff00ff00;
         for (const int i : {0, 2}) r |= u64{u8((a >> 8 * (3 - i)) + (b >> 8 * i))} << 8 * i;
         return r;
       }},
      {"vmin2.u32.u32.u32 $0, $1.h32, $2, $3;", "rrrr", "iii",
       [](u64, u64 b, u64) {
         return parts<u16, u16, 16>(b, b, [](s64 x, s64 y) { return std::min(x, y); });
       }},
  });
}

}  // namespace
}  // namespace inflight::machine
