// When operations on tensor memory execute, and when their commits reach mbarriers.
#include "gpu/async/tensor_work.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace inflight::async {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::uint64_t> executed;

TensorOperation operation(std::uint64_t number) {
  TensorOperation o;
  o.a = number;
  o.perform = [](const TensorOperation& each) { executed.push_back(each.a); };
  return o;
}

struct Phases final : Observer {
  Phases() : Observer(false) {}
  void phase_completed(std::uint32_t rank, std::uint32_t offset) override {
    completed.push_back(rank << 16 | offset);
  }
  std::vector<std::uint32_t> completed;
};

class TensorWorkTest : public ::testing::Test {
 protected:
  TensorWorkTest() {
    executed.clear();
    for (mbarrier::Word& each : words) mbarrier::init(each, 1);
  }
  static TensorCommit commit(std::uint32_t thread, mbarrier::Word& word, std::uint32_t offset = 0) {
    return {.thread = thread, .mbarrier = &word, .offset = offset};
  }
  bool is_complete(int i) const { return mbarrier::test_parity(words[i], 0).done; }

  mbarrier::Word words[3];
  Phases phases;
  TensorWork late{Order({Timing::Policy::late, 0}), phases};
};

TEST_F(TensorWorkTest, ExecutesWhenTheMbarrierOfItsCommitIsWaitedFor) {
  late.issue(1, operation(10));
  late.issue(1, operation(11));
  late.commit(commit(1, words[0], 8));
  late.issue(1, operation(12));
  EXPECT_THAT(executed, IsEmpty());
  late.flush_for(&words[1]);
  EXPECT_THAT(executed, IsEmpty());
  late.flush_for(&words[0]);
  EXPECT_THAT(executed, ElementsAre(10, 11));
  EXPECT_TRUE(is_complete(0));
  EXPECT_THAT(phases.completed, ElementsAre(8));
  EXPECT_TRUE(late.flush_block(0));
  EXPECT_THAT(executed, ElementsAre(10, 11, 12));
  EXPECT_TRUE(late.idle());
}

TEST_F(TensorWorkTest, CommitsOfAThreadAreMadeInOrder) {
  late.issue(1, operation(1));
  late.commit(commit(1, words[0]));
  late.issue(1, operation(2));
  late.commit(commit(1, words[1]));
  late.flush_for(&words[1]);
  EXPECT_THAT(executed, ElementsAre(1, 2));
  EXPECT_TRUE(is_complete(0) && is_complete(1));
}

TEST_F(TensorWorkTest, OtherThreadsAndBlocksAreLeftAlone) {
  constexpr std::uint32_t other_block = 1 << 10;
  late.issue(1, operation(1));
  late.issue(2, operation(2));
  late.issue(other_block, operation(3));
  late.commit(commit(2, words[0]));
  late.flush_for(&words[0]);
  EXPECT_THAT(executed, ElementsAre(2));
  EXPECT_TRUE(late.flush_block(1));
  EXPECT_THAT(executed, ElementsAre(2, 3));
  EXPECT_FALSE(late.flush_block(1));
}

TEST_F(TensorWorkTest, SeveralThreadsCompleteAPhaseTogether) {
  mbarrier::init(words[2], 2);
  for (const std::uint32_t thread : {1u, 2u}) {
    late.issue(thread, operation(thread));
    late.commit(commit(thread, words[2]));
  }
  late.flush_for(&words[2]);
  EXPECT_THAT(executed, ElementsAre(1, 2));
  EXPECT_TRUE(is_complete(2));
}

TEST_F(TensorWorkTest, EarlyExecutesAtTheIssue) {
  TensorWork early(Order({Timing::Policy::early, 0}), phases);
  early.issue(1, operation(1));
  EXPECT_THAT(executed, ElementsAre(1));
  early.commit(commit(1, words[0]));
  EXPECT_TRUE(is_complete(0));
  EXPECT_TRUE(early.idle());
}

TEST_F(TensorWorkTest, ShuffledExecutesSomeEarlierButInOrder) {
  TensorWork shuffled(Order({Timing::Policy::shuffled, 3}), phases);
  for (std::uint64_t i = 0; i < 8; ++i) shuffled.issue(1, operation(i));
  shuffled.commit(commit(1, words[0]));
  for (int i = 0; i < 12; ++i) shuffled.advance();
  EXPECT_FALSE(executed.empty());
  shuffled.flush_for(&words[0]);
  EXPECT_THAT(executed, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

}  // namespace
}  // namespace inflight::async
