// Conversions that no assembler of CUDA 13.0 takes, and forms that are refused by name.
#include <cmath>

#include "tests/unit/machine/arithmetic_runner.hpp"

namespace inflight::machine {
namespace {

// A format by definition: the nearest value is found among all of them.
struct SmallFormat {
  int exponent, fraction, bias;
  bool nan, infinity;
  u32 sign() const { return 1u << (exponent + fraction); }
  u32 greatest() const { return sign() - 1 - (infinity ? 1u << fraction : nan ? 1 : 0); }
  double value(u32 x) const {
    const u32 e = x >> fraction & ((1u << exponent) - 1), f = x & ((1u << fraction) - 1);
    const double m = e ? 1 + std::ldexp(f, -fraction) : std::ldexp(f, -fraction);
    const double v = std::ldexp(m, static_cast<int>(e ? e : 1) - bias);
    return x & sign() ? -v : v;
  }
  u32 nearest(double x) const {
    if (std::isnan(x)) return nan ? sign() - 1 : greatest();
    const double m = std::fmin(std::fabs(x), 2 * value(greatest()));
    u32 best = 0;
    for (u32 c = 0; c <= greatest(); ++c) {
      const double d = std::fabs(value(c) - m), least = std::fabs(value(best) - m);
      if (d < least || (d == least && c % 2 == 0)) best = c;
    }
    return best | (std::signbit(x) ? sign() : 0);
  }
};
constexpr SmallFormat e2m1{2, 1, 1, false, false}, e2m3{2, 3, 1, false, false},
    e3m2{3, 2, 3, false, false}, e4m3{4, 3, 7, true, false}, e5m2{5, 2, 15, true, true};

double of_bf16(u64 h) { return std::bit_cast<float>(static_cast<u32>(h) << 16); }

u64 narrowed(const SmallFormat& f, u64 pair, int place) {
  return f.nearest(of_bf16(pair >> 16 & 0xffff)) << place | f.nearest(of_bf16(pair & 0xffff));
}
Check from_bf16(const char* name, const SmallFormat& f, int place = 8) {
  return {std::string("cvt.rn.satfinite.") + name + ".bf16x2", "hr", "i",
          [=](u64 a, u64, u64) { return narrowed(f, a, place); }};
}
TEST(Narrow, PairsOfBf16AreRoundedToNearest) {
  run_checks({from_bf16("e4m3x2", e4m3), from_bf16("e5m2x2", e5m2), from_bf16("e2m3x2", e2m3),
              from_bf16("e3m2x2", e3m2), from_bf16("e2m1x2", e2m1, 4)});
}

u64 bf16_of(const SmallFormat& f, u64 x) {
  const u64 magnitude = x & (f.sign() - 1);
  if (f.nan && magnitude > f.greatest() + (f.infinity ? 1 : 0)) return 0x7fff;
  const u64 sign = x & f.sign() ? 0x8000 : 0;
  if (f.infinity && magnitude == f.greatest() + 1) return sign | 0x7f80;
  return std::bit_cast<u32>(static_cast<float>(f.value(static_cast<u32>(magnitude)))) >> 16 | sign;
}
Check to_bf16(const char* name, const SmallFormat& f, int place = 8) {
  return {std::string("cvt.rn.bf16x2.") + name, "rh", "i", [=](u64 a, u64, u64) {
            const u64 mask = 2 * f.sign() - 1;
            return bf16_of(f, a >> place & mask) << 16 | bf16_of(f, a & mask);
          }};
}
TEST(Narrow, EveryValueIsABf16) {
  run_checks({to_bf16("e4m3x2", e4m3), to_bf16("e5m2x2", e5m2), to_bf16("e2m3x2", e2m3),
              to_bf16("e3m2x2", e3m2), to_bf16("e2m1x2", e2m1, 4)});
}

TEST(Narrow, FormsOfLaterChipsAreRefusedByName) {
  for (const char* form :
       {"cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32 h, f, f, h",
        "min.xorsign.abs.f32 f, f, f, f",
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32."
        "ue8m0 {f, f, f, f}, {r, r, r, r}, {r, r}, {f, f, f, f}, r, {0, 0}, r, {0, 0}",
        "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {r, r, r, r}, [r]"}) {
    PtxRunner runner({".version 9.3\n.target sm_120a\n.address_size 64\n"
                      ".visible .entry k() { .reg .b16 h; .reg .b32 r; .reg .f32 f;\n" +
                      std::string(form) + "; ret; }"},
                     false);
    ASSERT_TRUE(runner.program) << runner.error;
    const Outcome outcome = runner.run("k", {1, 1, 1}, {32, 1, 1});
    EXPECT_EQ(outcome.kind, FaultKind::refused) << form << outcome.report;
    const std::string name = std::string(form).substr(0, std::string(form).find(' '));
    EXPECT_NE(outcome.report.find(name), std::string::npos) << outcome.report;
  }
}

}  // namespace
}  // namespace inflight::machine
