// The exactness of instructions relative to a chip, as a counting listener receives it.
#include <gtest/gtest.h>

#include <map>

#include "gpu/trace/stats.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

using Kind = check::Fidelity::Kind;

// The number of threads that executed each inexact instruction, by its text.
std::map<std::string, std::pair<Kind, std::uint64_t>> run(const std::string& body, int sm = 90) {
  PtxRunner r({kernel_k(body)});
  r.limits.architecture = sm;
  trace::Stats stats(true);
  r.options.listener = &stats;
  auto* out = r.make<std::uint32_t>(64);
  r.run("k", {1, 1, 1}, {64, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  std::map<std::string, std::pair<Kind, std::uint64_t>> result;
  const auto kernels = stats.kernels();
  for (const auto& kernel : kernels)
    for (const auto& [key, executed] : kernel.fidelity.rows)
      result[std::get<1>(key)] = {std::get<0>(key), executed.threads};
  const auto& whole = kernels.at(0);
  EXPECT_EQ(whole.fidelity.all().threads, whole.tally.instructions().threads);
  return result;
}

TEST(Fidelity, ApproximationsAreExactWhereTheyWereMeasured) {
  const std::string functions = R"(
  .reg .f32 %x<4>;
  mov.f32 %x0, 0f40000000;
  ex2.approx.ftz.f32 %x1, %x0;
  rcp.rn.f32 %x2, %x1;
  setp.lt.u32 %p1, %r1, 5;
  @%p1 rcp.approx.f32 %x2, %x1;
  div.full.f32 %x3, %x1, %x2;)";
  EXPECT_TRUE(run(functions, 90).empty());
  const auto elsewhere = run(functions, 80);
  ASSERT_EQ(elsewhere.size(), 3u);
  EXPECT_EQ(elsewhere.at("ex2.approx.ftz.f32"), std::pair(Kind::modelled, std::uint64_t{64}));
  EXPECT_EQ(elsewhere.at("rcp.approx.f32").first, Kind::modelled);
  EXPECT_EQ(elsewhere.at("div.full.f32"), std::pair(Kind::modelled, std::uint64_t{64}));
}

TEST(Fidelity, ClocksAndPlacesAreOfThisDevice) {
  const auto found = run(R"(
  mov.u32 %r3, %clock;
  mov.u64 %rd3, %globaltimer;
  mov.u32 %r3, %smid;
  mov.u32 %r3, %tid.x;)");
  EXPECT_EQ(found.size(), 2u) << "two texts, mov.u32 and mov.u64";
  for (const auto& [text, what] : found) EXPECT_EQ(what.first, Kind::own) << text;
}

TEST(Fidelity, TensorCoresAreExactWhereTheyWereMeasured) {
  const std::string product = R"(
  .reg .b32 %m<10>; .reg .f32 %f<8>;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%m0,%m1,%m2,%m3},
    {%m4,%m5}, {%f0,%f1,%f2,%f3};
  mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%m0,%m1,%m2,%m3}, {%m0,%m1,%m2,%m3}, {%m4,%m5},
    {%m0,%m1,%m2,%m3};)";
  EXPECT_TRUE(run(product, 90).empty());
  const auto elsewhere = run(product, 80);
  ASSERT_EQ(elsewhere.size(), 1u) << "products of integers are exact everywhere";
  EXPECT_EQ(elsewhere.begin()->second, std::pair(Kind::modelled, std::uint64_t{64}));
}

TEST(Fidelity, WhatIsNotSupportedIsToldThoughNotReached) {
  const auto found = run(R"(
  setp.gt.u32 %p1, %r1, 1000;
  @!%p1 bra done;
  frobnicate.u32 %r3, [%rd1];
done:)");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at("frobnicate.u32"), std::pair(Kind::unsupported, std::uint64_t{0}));
}

}  // namespace
}  // namespace inflight::machine
