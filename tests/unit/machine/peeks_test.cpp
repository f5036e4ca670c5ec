// Finds the loads that only look at what an atomic then updates.
#include "gpu/machine/instruction/peeks.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/machine/described_kernel.hpp"

namespace inflight::machine {
namespace {

// Whether the body's first load peeks. %rd1 is a pointer, %r1 a value, %p1 a condition.
bool peeks(const std::string& body) {
  const DescribedKernel kernel(
      ".visible .entry k(.param .u64 p) {\n"
      "  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<8>;\n"
      "  ld.param.u64 %rd1, [p];\n" +
      body + "\n}\n");
  const Function* const function = kernel.function.get();
  if (!function) return false;
  for (const Instruction& in : function->body)
    for (const MemoryOperand& m : in.memory)
      if (m.space == ptx::Space::global && m.role == MemoryOperand::Role::load) return m.peeks;
  ADD_FAILURE() << "no load in " << body;
  return false;
}

TEST(Peeks, AnAtomicOrAReductionOnTheSameAddressFollows) {
  EXPECT_TRUE(peeks("ld.global.u32 %r2, [%rd1]; atom.global.cas.b32 %r3, [%rd1], %r2, %r1;"));
  EXPECT_TRUE(peeks("ld.global.u32 %r2, [%rd1]; red.global.max.u32 [%rd1], %r2;"));
  EXPECT_FALSE(peeks("ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], %r1;"));
  EXPECT_FALSE(peeks("ld.global.u32 %r2, [%rd1]; atom.global.cas.b32 %r3, [%rd1+4], %r2, %r1;"));
  EXPECT_FALSE(peeks("atom.global.cas.b32 %r3, [%rd1], %r2, %r1; ld.global.u32 %r2, [%rd1];"));
}

TEST(Peeks, TheAtomicIsOnSomePath) {
  EXPECT_TRUE(
      peeks("ld.global.u32 %r2, [%rd1];\n"
            "again: max.u32 %r4, %r2, %r1; setp.eq.u32 %p1, %r2, %r4; @%p1 bra done;\n"
            "atom.global.cas.b32 %r3, [%rd1], %r2, %r4; setp.ne.u32 %p2, %r2, %r3;\n"
            "mov.u32 %r2, %r3; @%p2 bra again;\ndone: ret;"));
  EXPECT_FALSE(
      peeks("ld.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra done; ret;\n"
            "atom.global.cas.b32 %r3, [%rd1], %r2, %r1;\ndone: ret;"));
}

TEST(Peeks, TheLoadedValueDecides) {
  EXPECT_TRUE(
      peeks("ld.global.u32 %r2, [%rd1]; setp.gt.u32 %p1, %r1, %r2;\n"
            "@%p1 red.global.max.u32 [%rd1], %r1;"));
  EXPECT_TRUE(
      peeks("ld.global.u32 %r2, [%rd1]; setp.gt.u32 %p1, %r1, %r2; @!%p1 bra done;\n"
            "red.global.max.u32 [%rd1], %r1;\ndone: ret;"));
  // Other threads may be meant.
  EXPECT_FALSE(
      peeks("ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1+4], %r2; setp.eq.u32 %p1, %r1, 1;\n"
            "@%p1 red.global.add.u32 [%rd1], %r1;"));
}

TEST(Peeks, AddressesAreComparedThroughCopiesAndSums) {
  EXPECT_TRUE(
      peeks("ld.global.u32 %r2, [%rd1+4]; add.s64 %rd2, %rd1, 4;\n"
            "atom.global.cas.b32 %r3, [%rd2], %r2, %r1;"));
  EXPECT_TRUE(
      peeks("cvta.to.global.u64 %rd2, %rd1; ld.global.u32 %r2, [%rd2];\n"
            "atom.cas.b32 %r3, [%rd1], %r2, %r1;"));
  // %rd2 has the address of before.
  EXPECT_FALSE(
      peeks("mov.u64 %rd3, %rd1; add.s64 %rd2, %rd3, 4; add.s64 %rd3, %rd3, 8;\n"
            "ld.global.u32 %r2, [%rd3+4]; atom.global.cas.b32 %r3, [%rd2], %r2, %r1;"));
  // Each is a copy of itself.
  EXPECT_FALSE(
      peeks("add.s64 %rd2, %rd2, 4; mov.u64 %rd3, %rd3; ld.global.u32 %r2, [%rd2];\n"
            "atom.global.cas.b32 %r3, [%rd3], %r2, %r1;"));
}

TEST(Peeks, BarriersCallsAndNewAddressesEndThem) {
  const std::string load = "mov.u64 %rd3, %rd1; mov.u64 %rd3, %rd1; ld.global.u32 %r2, [%rd3];\n",
                    update = "\natom.global.cas.b32 %r3, [%rd3], %r2, %r1;";
  EXPECT_TRUE(peeks(load + update));
  EXPECT_TRUE(peeks(load + "bar.warp.sync -1;" + update));
  EXPECT_FALSE(peeks(load + "bar.sync 0;" + update));
  EXPECT_FALSE(peeks(load + "barrier.cluster.arrive.aligned;" + update));
  EXPECT_FALSE(peeks(load + "add.s64 %rd3, %rd3, 4;" + update));
}

}  // namespace
}  // namespace inflight::machine
