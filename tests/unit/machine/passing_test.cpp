// The instructions that no thread can have skipped by returning, and the threads that may bypass
// them.
#include "gpu/machine/instruction/passing.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/machine/described_kernel.hpp"

namespace inflight::machine {
namespace {

// For the body's first bar.sync.
bool passed(const std::string& body) {
  const DescribedKernel kernel(
      ".visible .entry k() {\n"
      "  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<8>;\n" +
      body + "\n}\n");
  const Function* const function = kernel.function.get();
  if (!function) return false;
  for (std::uint32_t i = 0; i < function->body.size(); ++i)
    if (function->body[i].opcode == ptx::Opcode::bar) return all_pass_behind(*function, i);
  ADD_FAILURE() << "no barrier in " << body;
  return false;
}

TEST(Passing, SeesWhatAllComeThroughBehindABranch) {
  EXPECT_TRUE(passed("@%p1 bra behind; bar.sync 0; behind: add.s32 %r1, %r1, 1; ret;"));
  EXPECT_TRUE(
      passed("@%p1 bra other; bar.sync 0; bra behind; other: add.s32 %r2, %r2, 1;\n"
             "behind: add.s32 %r1, %r1, 1; ret;"));
}

TEST(Passing, KnowsNothingOfWhoMayReturnEarly) {
  EXPECT_FALSE(passed("@%p1 bra behind; bar.sync 0; add.s32 %r1, %r1, 1; behind: ret;"));
  EXPECT_FALSE(passed("@%p1 ret; bar.sync 0; add.s32 %r1, %r1, 1; ret;"));
  EXPECT_FALSE(passed(
      "@%p1 bra away; @%p2 bra behind; bar.sync 0; behind: add.s32 %r1, %r1, 1; ret; away: ret;"));
  EXPECT_FALSE(passed("@%p1 exit; @%p2 bra behind; bar.sync 0; behind: add.s32 %r1, %r1, 1; ret;"));
}

TEST(Passing, CountsNoPointFromWhichSomeComeBack) {
  EXPECT_FALSE(
      passed("again: add.s32 %r1, %r1, 1; @%p1 bra out; bar.sync 0; bra again; out: ret;"));
  EXPECT_TRUE(passed("again: @%p1 bra out; bar.sync 0; bra again; out: add.s32 %r1, %r1, 1; ret;"));
  EXPECT_FALSE(passed("again: @%p2 ret; bar.sync 0; @%p1 bra again; add.s32 %r1, %r1, 1; ret;"));
}

// Whether a thread at the body's first add.s32 has left its first bar.sync.
bool left(const std::string& body) {
  const DescribedKernel kernel(
      ".visible .entry k() {\n"
      "  .reg .b32 %r<20>; .reg .pred %p<8>;\n" +
      body + "\n}\n");
  const Function* const function = kernel.function.get();
  if (!function) return false;
  const auto first = [&](ptx::Opcode opcode) {
    std::uint32_t i = 0;
    while (i < function->body.size() && function->body[i].opcode != opcode) ++i;
    return i;
  };
  return has_left(*function, first(ptx::Opcode::bar), first(ptx::Opcode::add));
}

TEST(Passing, KnowsFromWhereNothingLeadsBack) {
  EXPECT_TRUE(left("again: @%p1 bra out; bar.sync 0; bra again; out: add.s32 %r1, %r1, 1; ret;"));
  EXPECT_TRUE(left("bar.sync 0; add.s32 %r1, %r1, 1; ret;"));
  EXPECT_FALSE(left("again: add.s32 %r1, %r1, 1; bar.sync 0; @%p1 bra again; ret;"));
  EXPECT_FALSE(left("add.s32 %r1, %r1, 1; bar.sync 0; ret;"));
}

TEST(Passing, TellsAnotherBranchFromWhatLiesBehind) {
  EXPECT_FALSE(left("@%p1 bra other; bar.sync 0; ret; other: add.s32 %r1, %r1, 1; ret;"));
}

TEST(Passing, IsNeverSoOfWhatAllExecute) {
  EXPECT_FALSE(passed("bar.sync 0; @%p1 bra behind; add.s32 %r1, %r1, 1; behind: ret;"));
}

}  // namespace
}  // namespace inflight::machine
