// Approximate functions: equal to an H100's bits, within PTX's error bounds, and their special
// values (PTX ISA 9.7.3).
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/unit/machine/exact_reference.hpp"

namespace inflight::machine {
namespace {

// Evaluates `text` (one source and destination) over `count` values from `first` on, `step` bits
// apart. f64 has only its high word.
std::vector<u32> sweep_bits(PtxRunner& runner, u32* out, u32 first, u32 step, u32 count) {
  const Outcome outcome = runner.run("k", {count / 128, 1, 1}, {128, 1, 1},
                                     {first, step, reinterpret_cast<std::uint64_t>(out)});
  EXPECT_TRUE(outcome.ok()) << outcome.report;
  return {out, out + count};
}
std::vector<float> sweep(PtxRunner& runner, u32 first, u32 step, u32 count) {
  std::vector<float> result;
  for (const u32 bits : sweep_bits(runner, runner.make<u32>(count), first, step, count))
    result.push_back(std::bit_cast<float>(bits));
  return result;
}
std::string in_registers(const std::string& text) {
  if (text.ends_with("f16x2")) return text + " %r5, %r4;";
  if (text.ends_with("f16"))
    return "cvt.u16.u32 %h1, %r4; " + text + " %h1, %h1; cvt.u32.u16 %r5, %h1;";
  if (text.ends_with(".f64"))
    return "mov.b64 %d1, {0, %r4}; " + text + " %d1, %d1; mov.b64 {%r4, %r5}, %d1;";
  return "mov.b32 %f1, %r4; " + text + " %f1, %f1; mov.b32 %r5, %f1;";
}
PtxRunner runner_of(const std::string& text) {
  return PtxRunner({R"(
.visible .entry k(.param .u64 first, .param .u64 step, .param .u64 out) {
  .reg .b16 %h<2>; .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .f32 %f<2>; .reg .f64 %d<2>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 128, %r2;
  ld.param.u32 %r3, [step]; ld.param.u32 %r4, [first]; mad.lo.u32 %r4, %r1, %r3, %r4;
  )" + in_registers(text) +
                    R"(
  ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r5;
  ret;
})"});
}

// A line of tests/gpu/multifunction_truth.h100.txt.
struct Recorded {
  std::string text;
  u32 first = 0, step = 0, count = 0;
  u64 hash = 0;
};
std::vector<Recorded> recorded() {
  std::ifstream file(INFLIGHT_GPU_TESTS "/multifunction_truth.h100.txt");
  EXPECT_TRUE(file) << "tests/gpu/multifunction_truth.h100.txt cannot be read";
  std::vector<Recorded> result;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Recorded each;
    char colon = 0;
    words >> each.text >> std::hex >> each.first >> std::dec >> each.step >> each.count >> colon >>
        std::hex >> each.hash;
    EXPECT_TRUE(words && colon == ':') << line;
    result.push_back(each);
  }
  return result;
}
TEST(Approximate, EqualsAnH100) {
  const std::vector<Recorded> lines = recorded();
  EXPECT_GT(lines.size(), 50u);
  std::set<std::string> seen;
  for (const Recorded& each : lines) {
    // The others are left to tests/gpu.
    if (each.count >= 1 << 23 && !seen.insert(each.text).second) continue;
    const u32 piece = std::min(each.count, u32{1} << 20);
    PtxRunner runner = runner_of(each.text);
    u32* const out = runner.make<u32>(piece);
    u64 hash = 0xcbf29ce484222325;
    for (u32 done = 0; done < each.count; done += piece)
      for (const u32 bits :
           sweep_bits(runner, out, each.first + done * each.step, each.step, piece))
        hash = (hash ^ bits) * 0x100000001b3;
    EXPECT_EQ(hash, each.hash) << each.text << " from " << std::hex << each.first;
  }
}

struct Bound {
  const char* text;
  double (*exact)(double);
  float low, high;            // the range of magnitudes
  double relative, absolute;  // one of them must hold
};
constexpr u32 values = 1 << 20;

void check_bound(const Bound& bound) {
  PtxRunner runner = runner_of(bound.text);
  for (const u32 sign : {0u, 0x80000000u}) {
    const u32 low = std::bit_cast<u32>(bound.low), high = std::bit_cast<u32>(bound.high);
    const u32 step = (high - low) / values + 1;
    const auto results = sweep(runner, low | sign, step, values);
    double worst = 0;
    float where = 0;
    for (u32 i = 0; i < values && low + i * step <= high; ++i) {
      const double x = std::bit_cast<float>((low + i * step) | sign);
      const double expected = bound.exact(x);
      if (std::isnan(expected) || std::fabs(expected) < 0x1p-126 ||
          std::fabs(expected) > 0x1.fffffep127)
        continue;
      const double error = std::fabs(results[i] - expected);
      const double allowed = std::max(bound.relative * std::fabs(expected), bound.absolute);
      if (!(error / allowed <= worst)) worst = error / allowed, where = static_cast<float>(x);
    }
    EXPECT_LE(worst, 1) << bound.text << " at " << std::hexfloat << where;
  }
}
double rcp(double x) { return 1 / x; }
double rsqrt(double x) { return x > 0 ? 1 / std::sqrt(x) : NAN; }

TEST(Approximate, StaysWithinTheStatedErrors) {
  constexpr float pi = 3.1415927f;
  const Bound bounds[] = {
      {"rcp.approx.f32", rcp, 0x1p-126f, 0x1p126f, 0x1p-23, 0},
      {"rcp.approx.ftz.f32", rcp, 0x1p-126f, 0x1p125f, 0x1p-23, 0},
      {"sqrt.approx.f32", std::sqrt, 0x1p-126f, 0x1.fffffep127f, 0x1p-23, 0},
      {"rsqrt.approx.f32", rsqrt, 0x1p-126f, 0x1.fffffep127f, 0x1.18p-23, 0},  // 2^-22.9
      {"rsqrt.approx.ftz.f32", rsqrt, 0x1p-126f, 0x1.fffffep127f, 0x1.18p-23, 0},
      {"sin.approx.f32", std::sin, 0x1p-126f, pi, 0, 0x1.6ap-21},  // 2^-20.5
      {"cos.approx.f32", std::cos, 0x1p-126f, pi, 0, 0x1.12p-21},  // 2^-20.9
      {"sin.approx.f32", std::sin, pi, 100 * pi, 0, 0x1.3ap-15},   // 2^-14.7
      {"cos.approx.f32", std::cos, pi, 100 * pi, 0, 0x1.3ap-15},
      {"lg2.approx.f32", std::log2, 0x1p-126f, 0.5f, 0x1p-22, 0},
      {"lg2.approx.f32", std::log2, 0.5f, 2.0f, 0, 0x1p-22},
      {"lg2.approx.ftz.f32", std::log2, 2.0f, 0x1.fffffep127f, 0x1p-22, 0},
      {"ex2.approx.f32", std::exp2, 0x1p-126f, 128.0f, 0x1.6ap-23, 0},  // 2^-22.5
      {"ex2.approx.ftz.f32", std::exp2, 0x1p-126f, 128.0f, 0x1.6ap-23, 0},
      {"tanh.approx.f32", std::tanh, 0x1p-126f, 0x1p10f, 0x1p-11, 0},
  };
  for (const Bound& bound : bounds) check_bound(bound);
}

// Operands, and the function's result for each.
void expect_special(const std::string& text, const std::vector<std::pair<u32, u32>>& pairs) {
  PtxRunner runner = runner_of(text);
  for (const auto& [in, out] : pairs)
    EXPECT_EQ(bits_of(sweep(runner, in, 0, 128)[0]), out) << text << " of " << std::hex << in;
}
TEST(Approximate, SpecialValues) {
  constexpr u32 zero = 0, minus_zero = 0x80000000, inf = 0x7f800000, minus_inf = 0xff800000;
  constexpr u32 nan = 0x7fffffff, payload = 0xffc01234, one = 0x3f800000, minus_one = 0xbf800000;
  constexpr u32 tiny = 1, minus_tiny = 0x80000001;
  expect_special("rcp.approx.ftz.f32", {{zero, inf},
                                        {minus_zero, minus_inf},
                                        {inf, zero},
                                        {minus_inf, minus_zero},
                                        {tiny, inf},
                                        {minus_tiny, minus_inf},
                                        {payload, nan},
                                        {0x7f000000, zero}});
  // As recorded on an H100.
  expect_special("rcp.approx.f32", {{tiny, inf},
                                    {0x007fffff, 0x7e800001},
                                    {0x7e800001, 0x007fffff},
                                    {0xff7fffff, 0x80200000},
                                    {payload, nan}});
  expect_special("rsqrt.approx.f32", {{tiny, 0x64b504f2}, {minus_tiny, nan}, {zero, inf}});
  expect_special("sqrt.approx.f32", {{tiny, 0x1a3504f3}, {0x007fffff, 0x1fffffff}});
  expect_special("sqrt.approx.f32", {{zero, zero},
                                     {minus_zero, minus_zero},
                                     {inf, inf},
                                     {minus_inf, nan},
                                     {minus_one, nan},
                                     {payload, nan}});
  expect_special("rsqrt.approx.ftz.f32", {{zero, inf},
                                          {minus_zero, minus_inf},
                                          {inf, zero},
                                          {minus_one, nan},
                                          {tiny, inf},
                                          {minus_tiny, minus_inf}});
  expect_special("sin.approx.ftz.f32", {{zero, zero},
                                        {minus_zero, minus_zero},
                                        {inf, nan},
                                        {tiny, zero},
                                        {minus_tiny, minus_zero},
                                        {payload, nan}});
  expect_special("cos.approx.f32", {{zero, one}, {minus_zero, one}, {minus_inf, nan}, {tiny, one}});
  expect_special("lg2.approx.ftz.f32", {{zero, minus_inf},
                                        {minus_zero, minus_inf},
                                        {inf, inf},
                                        {minus_inf, nan},
                                        {minus_one, nan},
                                        {tiny, minus_inf},
                                        {one, zero}});
  expect_special("lg2.approx.f32", {{tiny, 0xc3150000}, {minus_tiny, nan}});
  expect_special("ex2.approx.f32", {{zero, one},
                                    {minus_zero, one},
                                    {inf, inf},
                                    {minus_inf, zero},
                                    {tiny, one},
                                    {payload, nan},
                                    {0xc2fe0000, 0x003fffff},
                                    {0xc2fc0001, 0x007fffd3},
                                    {0xc3150000, 1},
                                    {0xc3800000, zero}});
  expect_special("ex2.approx.ftz.f32", {{0xc2fe0000, zero}, {0x43000000, inf}});
  expect_special(
      "tanh.approx.f32",
      {{zero, zero}, {minus_zero, minus_zero}, {inf, one}, {minus_inf, minus_one}, {payload, nan}});
}

TEST(Approximate, QuotientsOfTwo) {
  // The kernel compares its own approximate quotient with div.rn.
  run_checks(
      {{"{.reg .f32 %q, %e, %t; .reg .pred %p, %n, %z; div.full.f32 %q, $1, $2; div.rn.f32 %e, $1, "
        "$2;"
        " sub.f32 %t, %q, %e; abs.f32 %t, %t; abs.f32 $0, %e; fma.rn.f32 $0, $0, 0f34800000, "
        "0f00000001;"
        " setp.le.f32 %p, %t, $0; setp.eq.or.f32 %p, %q, %e, %p; testp.notanumber.f32 %n, %e;"
        " or.pred %p, %p, %n; selp.f32 $0, 0f3f800000, 0f00000000, %p;}",
        "fff", "ff", [](u64, u64, u64) { return u64{0x3f800000}; }},
       // A divisor past 2^126: 0, or NaN of an infinity.
       {"div.approx.f32 $0, $1, 0f7f000000;", "ff", "f", [](u64 a, u64, u64) {
          const float x = f32_of(a);
          if (std::isnan(x) || std::isinf(x)) return u64{0x7fffffff};
          return a & 0x80000000;
        }}});
}

TEST(Approximate, PairsAreTwoHalves) {
  PtxRunner alone = runner_of("ex2.approx.ftz.bf16"), both = runner_of("ex2.approx.ftz.bf16x2");
  constexpr u32 count = 1 << 16;
  const auto half = sweep_bits(alone, alone.make<u32>(count), 0, 1, count);
  const auto pair = sweep_bits(both, both.make<u32>(count), 0x3f800000, 1, count);
  for (u32 i = 0; i < count; ++i) ASSERT_EQ(pair[i], half[i] | 0x40000000) << std::hex << i;
}

}  // namespace
}  // namespace inflight::machine
