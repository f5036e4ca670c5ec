// The registers available to a block's threads, and those that a kernel needs.
#include "gpu/machine/launch/occupancy.hpp"

#include <fmt/format.h>

#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

// A kernel in which `count` registers are live at once.
std::string keeps(unsigned count, const std::string& bounds = {}) {
  std::string body = ".reg .b32 %k<" + std::to_string(count) + ">;\n";
  for (unsigned i = 0; i < count; ++i)
    body += "ld.global.u32 %k" + std::to_string(i) + ", [%rd2+" + std::to_string(4 * i) + "];\n";
  body += "bar.sync 0;\nmov.u32 %r2, 0;\n";
  for (unsigned i = 0; i < count; ++i) body += "xor.b32 %r2, %r2, %k" + std::to_string(i) + ";\n";
  std::string text = kernel_k(body + "st.global.u32 [%rd2], %r2;");
  return text.replace(text.find(") {"), 1, ")\n" + bounds);
}

RegisterNeed need(const std::string& text, std::uint32_t threads) {
  PtxRunner r({text});
  return register_need(*r.program->kernel("k"), threads, r.limits);
}

TEST(Registers, ABlocksRoomIsTheFileByItsWarps) {
  const std::pair<std::uint32_t, std::uint32_t> rooms[] = {{1, 255},   {256, 255}, {257, 224},
                                                           {512, 128}, {768, 80},  {1024, 64}};
  for (const auto& [threads, room] : rooms)
    EXPECT_EQ(need(keeps(1), threads).room, room) << threads;
}

TEST(Registers, ThoseThatLiveAtOnceAreNeeded) {
  EXPECT_NEAR(need(keeps(100), 1024).live, 100, 8);
  EXPECT_NEAR(need(keeps(400), 1024).live, 400, 8);
}

// Registers that are written again hold nothing in between.
TEST(Registers, ThoseWithoutAValueAreNotNeeded) {
  std::string body = ".reg .b32 %k<100>, %j<100>;\n";
  const auto use = [&](const char* name) {
    for (const char* form : {"ld.global.u32 {}{}, [%rd2];\n", "xor.b32 %r2, %r2, {}{};\n"})
      for (int i = 0; i < 100; ++i) body += fmt::format(fmt::runtime(form), name, i);
  };
  for (const char* name : {"%k", "%j", "%k"}) use(name);
  EXPECT_NEAR(need(kernel_k(body + "st.global.u32 [%rd2], %r2;"), 1024).live, 100, 8);
}

TEST(Registers, WhatBoundsThemIsHeeded) {
  EXPECT_EQ(need(keeps(400), 256).live, 0u) << "255 are the most that a thread uses";
  EXPECT_EQ(need(keeps(100, ".maxntid 1024, 1, 1\n"), 1024).live, 0u);
  EXPECT_EQ(need(keeps(100, ".reqntid 1024, 1, 1\n"), 1024).live, 0u);
  EXPECT_EQ(need(keeps(100, ".maxnreg 40\n"), 1024).live, 40u);
}

TEST(Occupancy, IgnoresTheKernelsOwnBoundOnThreads) {
  for (const char* bounds : {"", ".reqntid 1, 1, 1\n", ".maxntid 64\n"}) {
    PtxRunner r({keeps(1, bounds)});
    const Kernel& k = *r.program->kernel("k");
    EXPECT_EQ(resident_blocks(k, 128, 0, r.limits), 16u) << bounds;
    EXPECT_EQ(resident_blocks(k, 1024, 0, r.limits), 2u) << bounds;
    EXPECT_EQ(resident_clusters(k, {1, 1, 1}, 128, 232448, r.limits), 132u) << bounds;
  }
}

}  // namespace
}  // namespace inflight::machine
