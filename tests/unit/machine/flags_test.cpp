// Finds the strong loads whose value may decide where a thread goes.
#include "gpu/machine/instruction/flags.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/machine/described_kernel.hpp"

namespace inflight::machine {
namespace {

// Whether the body's first volatile load is that of a flag. %rd1 is a pointer.
bool is_flag(const std::string& body) {
  const DescribedKernel kernel(
      ".visible .entry k(.param .u64 p) {\n"
      "  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<8>; .shared .b32 s;\n"
      "  ld.param.u64 %rd1, [p];\n" +
      body + "\n}\n");
  const Function* const function = kernel.function.get();
  if (!function) return false;
  for (const Instruction& in : function->body)
    for (const MemoryOperand& m : in.memory)
      if (m.role == MemoryOperand::Role::load && m.order != check::Order::weak) return m.flag;
  ADD_FAILURE() << "no strong load in " << body;
  return false;
}

TEST(Flags, ABranchOrAGuardDepends) {
  EXPECT_TRUE(
      is_flag("again: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;\n"
              "@%p1 bra again;"));
  EXPECT_TRUE(
      is_flag("ld.volatile.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 1; setp.gt.u32 %p1, %r2, 5;\n"
              "@%p1 st.global.u32 [%rd1+4], 1;"));
  EXPECT_TRUE(
      is_flag("ld.volatile.global.u32 %r1, [%rd1]; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n"
              "setp.ne.u32 %p1, %r2, 0; @%p1 exit;"));
}

TEST(Flags, DataDecideNothing) {
  EXPECT_FALSE(is_flag("ld.volatile.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+4], %r1;"));
  EXPECT_FALSE(
      is_flag("ld.volatile.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 1;\n"
              "st.volatile.global.u32 [%rd1], %r2; setp.eq.u32 %p1, %r3, 0; @%p1 exit;"));
  EXPECT_FALSE(is_flag("ld.volatile.shared.u32 %r1, [s]; st.shared.u32 [s+4], %r1;"));
}

TEST(Flags, ElementsOfAVectorWithAFlag) {
  EXPECT_TRUE(
      is_flag("ld.volatile.global.v2.u32 {%r1, %r2}, [%rd1]; setp.eq.u32 %p1, %r2, 0;\n"
              "@%p1 exit; st.global.u32 [%rd1+8], %r1;"));
}

TEST(Flags, OtherThreadsMayDecideByWhatGoesToSharedMemory) {
  EXPECT_TRUE(is_flag("ld.volatile.global.u32 %r1, [%rd1]; st.shared.u32 [s], %r1;"));
}

}  // namespace
}  // namespace inflight::machine
