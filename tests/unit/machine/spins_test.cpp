// Finds the atomics that a thread repeats until they succeed.
#include "gpu/machine/instruction/spins.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/machine/described_kernel.hpp"

namespace inflight::machine {
namespace {

// Whether the body's first atomic spins. %rd1 is a pointer.
bool spins(const std::string& body) {
  const DescribedKernel kernel(
      ".visible .func f() { ret; }\n.visible .entry k(.param .u64 p) {\n"
      "  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<8>;\n"
      "  ld.param.u64 %rd1, [p];\n" +
      body + "\n}\n");
  const Function* const function = kernel.function.get();
  if (!function) return false;
  for (const Instruction& in : function->body)
    for (const MemoryOperand& m : in.memory)
      if (m.role == MemoryOperand::Role::atomic) return m.spins;
  ADD_FAILURE() << "no atomic in " << body;
  return false;
}

// The loop `again`, with `before` and `after` the atomic and its comparison.
bool loop(const std::string& before, const std::string& after) {
  return spins("again: " + before +
               " atom.global.cas.b32 %r1, [%rd1], 0, 1;\n"
               "setp.ne.u32 %p1, %r1, 0; " +
               after + " @%p1 bra again;\nst.global.u32 [%rd1+4], 0; ret;");
}

TEST(Spins, CompareAndSwapOrExchangeUntilItReadsAConstant) {
  EXPECT_TRUE(loop("", ""));
  EXPECT_TRUE(
      spins("again: atom.global.exch.b32 %r1, [%rd1], 1; setp.eq.u32 %p1, %r1, 1;\n"
            "@!%p1 bra done; nanosleep.u32 20; bra again;\ndone: ret;"));
  // The first attempt before the loop.
  EXPECT_TRUE(
      spins("atom.global.exch.b32 %r1, [%rd1], 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra done;\n"
            "again: nanosleep.u32 20; atom.global.exch.b32 %r2, [%rd1], 1;\n"
            "setp.ne.u32 %p2, %r2, 0; @%p2 bra again;\ndone: ret;"));
  EXPECT_FALSE(
      spins("atom.global.exch.b32 %r1, [%rd1+4], 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra done;\n"
            "again: nanosleep.u32 20; atom.global.exch.b32 %r2, [%rd1], 1;\n"
            "setp.ne.u32 %p2, %r2, 0; @%p2 bra again;\ndone: ret;"));
  EXPECT_FALSE(
      spins("again: atom.global.add.u32 %r1, [%rd1], 1; setp.ne.u32 %p1, %r1, 0;\n"
            "@%p1 bra again; ret;"));
  EXPECT_FALSE(
      spins("atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0;\n"
            "@%p1 bra done; st.global.u32 [%rd1+4], 0;\ndone: ret;"));
}

TEST(Spins, LoadsAndComputationsOnTheWay) {
  EXPECT_TRUE(
      loop("wait: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.u32 %p2, %r2, 0;\n"
           "@%p2 bra wait;\n",
           "membar.gl;"));
  EXPECT_TRUE(loop("", "selp.u32 %r3, 1, 0, %p1; setp.eq.u32 %p1, %r3, 1;"));
  EXPECT_TRUE(loop("st.local.u32 [%rd2], %r5;", ""));
}

TEST(Spins, NothingElseHappensOnTheWay) {
  EXPECT_FALSE(loop("st.global.u32 [%rd1+8], 1;", ""));
  EXPECT_FALSE(loop("red.global.add.u32 [%rd1+8], 1;", ""));
  EXPECT_FALSE(loop("bar.sync 0;", ""));
  EXPECT_FALSE(loop("call f;", ""));
  EXPECT_FALSE(loop("", "vote.sync.any.pred %p1, %p1, -1;"));
}

TEST(Spins, NoOtherWayOut) {
  // A limited number of attempts.
  EXPECT_FALSE(
      spins("again: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.eq.u32 %p1, %r1, 0;\n"
            "@%p1 bra done; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 100; @%p2 bra again;\n"
            "done: ret;"));
  EXPECT_FALSE(loop("add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 100;", "and.pred %p1, %p1, %p2;"));
  EXPECT_FALSE(loop("", "mov.u32 %r2, %clock; setp.lt.u32 %p2, %r2, 9; and.pred %p1, %p1, %p2;"));
  EXPECT_TRUE(loop("", "setp.lt.u32 %p2, %r2, 9; and.pred %p1, %p1, %p2;"));
  // Both sides of the branch.
  EXPECT_FALSE(
      spins("again: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.eq.u32 %p1, %r1, 0;\n"
            "@%p1 bra again; bra again;"));
}

TEST(Spins, AddressAndExpectedValueStayTheSame) {
  // A search for a free slot.
  EXPECT_FALSE(
      spins("again: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0;\n"
            "add.u64 %rd1, %rd1, 4; @%p1 bra again; ret;"));
  EXPECT_TRUE(
      spins("again: add.u64 %rd2, %rd1, 4; mov.u32 %r2, 0;\n"
            "atom.global.cas.b32 %r1, [%rd2], %r2, 1; setp.ne.u32 %p1, %r1, %r2;\n"
            "@%p1 bra again; ret;"));
  // An update of whatever value the word has.
  EXPECT_FALSE(
      spins("ld.global.u32 %r2, [%rd1];\n"
            "again: add.u32 %r3, %r2, 1; mov.u32 %r4, %r2;\n"
            "atom.global.cas.b32 %r2, [%rd1], %r4, %r3; setp.ne.u32 %p1, %r2, %r4;\n"
            "@%p1 bra again; ret;"));
}

}  // namespace
}  // namespace inflight::machine
