// Finds the waits whose result a thread uses.
#include "gpu/machine/instruction/result_uses.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/machine/described_kernel.hpp"

namespace inflight::machine {
namespace {

// For the body's first wait, whose result is %p1.
ResultUse use(const std::string& behind, const std::string& before = "") {
  const DescribedKernel kernel(
      ".visible .entry k() {\n"
      "  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<8>; .shared .b64 bar;\n" +
      before + " mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n" + behind + "\n}\n");
  const Function* const function = kernel.function.get();
  if (!function) return ResultUse::decisive;
  for (std::uint32_t i = 0; i < function->body.size(); ++i)
    if (function->body[i].opcode == ptx::Opcode::mbarrier_try_wait)
      return use_of_result(*function, i);
  ADD_FAILURE() << "no wait in " << behind;
  return ResultUse::decisive;
}
bool used(const std::string& behind, const std::string& before = "") {
  return use(behind, before) == ResultUse::decisive;
}
bool unused(const std::string& behind, const std::string& before = "") {
  return use(behind, before) == ResultUse::none;
}
bool doubtful(const std::string& behind, const std::string& before = "") {
  return use(behind, before) == ResultUse::doubtful;
}

constexpr const char* as_number = "selp.u32 %r1, 1, 0, %p1; setp.eq.s32 %p2, %r1, 0; ";
constexpr const char* load = "ld.shared.u32 %r2, [bar]; st.shared.u32 [bar], %r2; ret;";

TEST(WaitResults, OfLoopsAreUsed) {
  EXPECT_TRUE(used(std::string("@!%p1 bra again; ") + load, "again:"));
  EXPECT_TRUE(used(std::string("@%p1 bra done; bra again; done: ") + load, "again:"));
  EXPECT_TRUE(used(std::string(as_number) + "@%p2 bra again; " + load, "again:"));
  EXPECT_TRUE(
      used(std::string("@%p1 bra done; nanosleep.u32 20; bra again; done: ") + load, "again:"));
}

TEST(WaitResults, ThatNobodyReadsAreNot) {
  EXPECT_TRUE(unused(load));
  EXPECT_TRUE(unused(std::string(as_number) + load));
}

TEST(WaitResults, AreNotWhereBothWaysMeetWithoutAWait) {
  EXPECT_TRUE(unused(std::string("@%p1 bra done; add.s32 %r3, %r3, 1; done: ") + load));
  EXPECT_TRUE(
      unused(std::string(as_number) + "@!%p2 bra done; add.s32 %r3, %r3, 1; done: " + load));
  EXPECT_TRUE(used(std::string("@%p1 bra done; bar.sync 0; done: ") + load));
  EXPECT_TRUE(used(std::string("@%p1 bra done; trap; done: ") + load));
}

TEST(WaitResults, AreWhereOnlyThoseToldYesRead) {
  EXPECT_TRUE(used(std::string("@!%p1 bra behind; ld.shared.u32 %r2, [bar]; behind: ret;")));
  EXPECT_TRUE(used(std::string("@%p1 ld.shared.u32 %r2, [bar]; ret;")));
}

TEST(WaitResults, AreUsedWhereTheyAreNotFollowed) {
  EXPECT_TRUE(used(std::string("selp.u32 %r1, 1, 0, %p1; st.shared.u32 [bar], %r1; ret;")));
}

TEST(WaitResults, AreInDoubtWhereOtherValuesCount) {
  EXPECT_TRUE(doubtful(
      std::string("and.pred %p3, %p1, %p2; @%p3 bra done; add.s32 %r3, %r3, 1; done: ") + load));
  EXPECT_TRUE(
      doubtful(std::string("vote.sync.all.pred %p3, %p1, -1; @%p3 bra done; done: ") + load));
  // A poll that gives up, and one that ends with another wait's result.
  EXPECT_TRUE(doubtful(std::string("add.s32 %r3, %r3, 1; setp.lt.s32 %p2, %r3, 9; not.pred %p3, "
                                   "%p1; and.pred %p4, %p2, %p3; @%p4 bra again; ") +
                           load,
                       "again:"));
  EXPECT_TRUE(
      doubtful(std::string("mbarrier.try_wait.parity.shared.b64 %p2, [bar], 1; or.pred %p3, "
                           "%p1, %p2; @!%p3 bra again; ") +
                   load,
               "again:"));
  // One that ends when both have come, or all lanes.
  EXPECT_TRUE(used(std::string("mbarrier.try_wait.parity.shared.b64 %p2, [bar], 1; and.pred %p3, "
                               "%p1, %p2; @!%p3 bra again; ") +
                       load,
                   "again:"));
  EXPECT_TRUE(
      used(std::string("vote.sync.all.pred %p3, %p1, -1; @!%p3 bra again; ") + load, "again:"));
  EXPECT_TRUE(
      doubtful(std::string("vote.sync.any.pred %p3, %p1, -1; @!%p3 bra again; ") + load, "again:"));
}

TEST(WaitResults, AreInDoubtBeforeAWaitThatIsNotHeeded) {
  EXPECT_TRUE(doubtful(
      std::string("@%p1 bra done; mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; done: ") +
      load));
  EXPECT_TRUE(used(std::string("@%p1 bra done; again: mbarrier.try_wait.parity.shared.b64 %p2, "
                               "[bar], 0; @!%p2 bra again; done: ") +
                   load));
}

}  // namespace
}  // namespace inflight::machine
