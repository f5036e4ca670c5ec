// The refused launches, with their codes and messages.
#include <gtest/gtest.h>

#include "gpu/machine/launch/check.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

class LaunchCheck : public testing::Test {
 protected:
  LaunchCheck()
      : runner_({".visible .entry plain() { .reg .b32 %r<2>; mov.u32 %r1, %tid.x; ret; }\n"
                 ".visible .entry narrow() .maxntid 64, 1, 1 { ret; }\n"
                 ".visible .entry square() .reqntid 8, 8, 1 { ret; }\n"
                 ".visible .entry pairs() .reqnctapercluster 2, 1, 1 { ret; }\n"
                 ".shared .align 16 .b8 tile[40960];\n"
                 ".visible .entry tiled() {\n"
                 "  .reg .b32 %r<2>; ld.shared.u32 %r1, [tile]; ret; }\n"}) {}

  Launch launch(std::string_view kernel, Dim3 grid, Dim3 block, Dim3 cluster = {}) {
    Launch launch;
    launch.kernel = runner_.program->kernel(kernel);
    launch.grid = grid, launch.block = block, launch.cluster = cluster;
    return launch;
  }
  void expect(const Launch& launch, FaultKind kind, std::string_view words) {
    const Outcome outcome = check(launch, limits_);
    EXPECT_EQ(int(outcome.kind), int(kind)) << outcome.report;
    EXPECT_NE(outcome.report.find(words), std::string::npos) << outcome.report;
    const std::string whose = "kernel " + launch.kernel->name + " cannot be launched: ";
    EXPECT_EQ(outcome.report.starts_with(whose), !outcome.ok()) << outcome.report;
  }
  void expect_good(const Launch& launch) { expect(launch, FaultKind::none, ""); }

  Limits limits_;
  PtxRunner runner_;
};

TEST_F(LaunchCheck, ShapesThatADeviceHas) {
  expect_good(launch("plain", {0x7fffffff, 65535, 65535}, {1, 16, 64}));
  expect_good(launch("narrow", {1, 1, 1}, {4, 4, 4}));
  expect_good(launch("square", {1, 1, 1}, {8, 8, 1}));
}

TEST_F(LaunchCheck, ShapesThatItHasNot) {
  constexpr FaultKind invalid = FaultKind::invalid_launch;
  expect(launch("plain", {1, 0, 1}, {1, 1, 1}), invalid,
         "every grid and block dimension must be at least 1");
  expect(launch("plain", {1, 1, 1}, {0, 1, 1}), invalid,
         "every grid and block dimension must be at least 1");
  expect(launch("plain", {1, 65536, 1}, {1, 1, 1}), invalid, "a grid of 1 x 65536 x 1 blocks");
  expect(launch("plain", {1, 1, 1}, {1, 1, 65}), invalid, "blocks of 1 x 1 x 65 threads");
  expect(launch("plain", {1, 1, 1}, {1025, 1, 1}), invalid, "blocks of 1025 x 1 x 1 threads");
  expect(launch("narrow", {1, 1, 1}, {65, 1, 1}), invalid, "built for at most 64");
  expect(launch("square", {1, 1, 1}, {64, 1, 1}), invalid, ".reqntid requires blocks of 8 x 8 x 1");
}

// 2^64 + 64 threads, which overflow a 64-bit count.
TEST_F(LaunchCheck, ACountThatWraps) {
  expect(launch("plain", {1, 1, 1}, {536838145, 536903681, 64}), FaultKind::invalid_launch,
         "blocks of 536838145 x 536903681 x 64 threads");
}

TEST_F(LaunchCheck, SharedMemory) {
  Launch tiled = launch("tiled", {1, 1, 1}, {32, 1, 1});
  tiled.shared_optin = 8 << 10;
  tiled.dynamic_shared = 8 << 10;
  expect_good(tiled);
  tiled.dynamic_shared += 1;
  expect(tiled, FaultKind::invalid_launch,
         "49153 bytes of shared memory per block (40960 static, 8193 dynamic); 49152 are allowed");
  tiled.shared_optin = limits_.shared_per_block_optin;
  expect_good(tiled);
  tiled.dynamic_shared = limits_.shared_per_block_optin;
  expect(tiled, FaultKind::invalid_launch, "232448 are allowed");
}

TEST_F(LaunchCheck, Clusters) {
  constexpr FaultKind invalid = FaultKind::invalid_cluster;
  expect_good(launch("plain", {16, 1, 1}, {32, 1, 1}, {8, 1, 1}));
  expect_good(launch("pairs", {16, 1, 1}, {32, 1, 1}, {2, 1, 1}));
  expect(launch("plain", {16, 1, 1}, {32, 1, 1}, {3, 1, 1}), invalid, "do not divide its grid");
  expect(launch("plain", {16, 1, 1}, {32, 1, 1}, {0, 1, 1}), invalid, "do not divide its grid");
  expect(launch("plain", {32, 1, 1}, {32, 1, 1}, {32, 1, 1}), invalid, "the device allows 16");
  expect(launch("pairs", {16, 1, 1}, {32, 1, 1}, {4, 1, 1}), invalid,
         ".reqnctapercluster requires 2 x 1 x 1");
  Launch portable = launch("plain", {16, 1, 1}, {32, 1, 1}, {16, 1, 1});
  expect_good(portable);
  portable.cluster_optin = 8;
  expect(portable, invalid, "NonPortableClusterSizeAllowed raises this up to 16");
  limits_.max_cluster = 1;
  expect(launch("plain", {16, 1, 1}, {32, 1, 1}, {2, 1, 1}), invalid,
         "clusters need sm_90 or later");
}

TEST_F(LaunchCheck, WhatMultiprocessorsHold) {
  Launch cooperative = launch("plain", {132 * 2, 1, 1}, {1024, 1, 1});
  cooperative.cooperative = true;
  expect_good(cooperative);
  cooperative.grid.x += 1;
  expect(cooperative, FaultKind::cooperative_too_large,
         "a cooperative grid of 265 blocks; 264 can be resident at once");
  limits_.registers_per_multiprocessor = 1024;
  expect(launch("plain", {1, 1, 1}, {1024, 1, 1}), FaultKind::too_many_resources,
         "more registers or shared memory than a multiprocessor has");
}

}  // namespace
}  // namespace inflight::machine
