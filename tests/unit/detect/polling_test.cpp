// What a report says of threads that poll: what they read, and whether others still change it.
#include "gpu/check/detect/waiting/polling.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace inflight::check {
namespace {

Kernel kernel_of_four_warps() {
  Kernel kernel;
  kernel.block = {4 * lanes, 1, 1};
  return kernel;
}

// A block of four warps. A test writes down what they read and wrote, in order.
class PollingThreads : public testing::Test {
 protected:
  static constexpr Spot spot{Space::global, 0, 0, 64};
  static Who thread(std::uint32_t warp) { return {1, 0, warp, 1, 10 + warp}; }

  void reads(std::uint32_t warp, std::uint64_t value, std::uint64_t times = 1) {
    for (; times != 0; --times)
      state_.polls[warp].saw({thread(warp), spot, false, value, 4}, writes_);
  }
  void writes(std::uint32_t warp, std::uint64_t value) {
    state_.writes[warp].wrote({thread(warp), spot, value, writes_++});
  }
  void ends(Stuck::Why why, std::initializer_list<std::uint32_t> polling) {
    hang_.why = why;
    for (const std::uint32_t warp : polling) hang_.threads.push_back({{thread(warp)}, true, false});
  }
  void runs(std::uint32_t warp) { hang_.threads.push_back({{thread(warp)}, true, true}); }
  Polling polling() {
    return {hang_, [this](std::uint64_t) { return &state_; }};
  }

  Hang hang_;

 private:
  const Kernel kernel_ = kernel_of_four_warps();
  ClusterState state_{kernel_};
  std::uint64_t writes_ = 0;
};

TEST_F(PollingThreads, KnowWhoWroteWhatTheyRead) {
  writes(1, 5);
  reads(0, 5, WarpPolls::many + 1);
  ends(Stuck::Why::only_polling, {0});
  const Polling found = polling();
  ASSERT_EQ(found.sites.size(), 1u);
  ASSERT_TRUE(found.sites[0].written);
  EXPECT_EQ(found.sites[0].written->who.warp, 1u);
  EXPECT_FALSE(found.sites[0].changed);
  EXPECT_FALSE(found.makes_progress);
}

TEST_F(PollingThreads, ReadWhatABlockWroteThatHasEnded) {
  Who gone = thread(2);
  gone.block = 3;
  hang_.ended = {{gone, spot, 0, 7}};
  hang_.blocks = 4;
  writes(1, 4);
  reads(0, 0, WarpPolls::many + 1);
  ends(Stuck::Why::only_polling, {0});
  const Polling found = polling();
  ASSERT_EQ(found.sites.size(), 1u);
  ASSERT_TRUE(found.sites[0].written);
  EXPECT_EQ(found.sites[0].written->who.block, 3u);
  EXPECT_EQ(hang_.ended_blocks(), (std::vector<std::uint64_t>{1, 2, 3}));
  hang_.not_begun = 1;
  EXPECT_TRUE(hang_.ended_blocks().empty());
}

TEST_F(PollingThreads, MissWhatOthersChangeAndChangeBack) {
  for (std::uint64_t i = 0; i < 3 * WarpPolls::many; ++i) {
    writes(1, 0);
    writes(1, 1);
    reads(0, 1);
  }
  ends(Stuck::Why::out_of_time, {0});
  const Polling found = polling();
  ASSERT_EQ(found.sites.size(), 1u);
  ASSERT_TRUE(found.sites[0].changed);
  EXPECT_EQ(found.sites[0].changed->who.warp, 1u);
}

// They have both values seen before, so the last change is nothing new to them.
TEST_F(PollingThreads, AreNotSaidToMissWhatWasChangedLongAgo) {
  reads(0, 0);
  reads(0, 1);
  writes(1, 0);
  writes(1, 1);
  reads(0, 1, 4 * WarpPolls::many);
  ends(Stuck::Why::out_of_time, {0});
  const Polling found = polling();
  ASSERT_EQ(found.sites.size(), 1u);
  EXPECT_FALSE(found.sites[0].changed);
}

TEST_F(PollingThreads, MaySeeThatOthersChangeWhatTheyRead) {
  for (std::uint64_t i = 0; i < 3 * WarpPolls::many; ++i) {
    writes(1, i % 2);
    reads(0, i % 2);
  }
  ends(Stuck::Why::out_of_time, {0});
  EXPECT_TRUE(polling().sites.empty());
  EXPECT_TRUE(polling().sees_changes);
  reads(0, 1, WarpPolls::many);
  EXPECT_EQ(polling().sites.size(), 1u);
  EXPECT_FALSE(polling().sees_changes);
}

TEST_F(PollingThreads, MayWaitForOthersThatRunAtATimeOut) {
  reads(0, 5, WarpPolls::many + 1);
  ends(Stuck::Why::out_of_time, {0});
  EXPECT_FALSE(polling().makes_progress);
  runs(2);
  EXPECT_TRUE(polling().makes_progress);
}

TEST_F(PollingThreads, HaveGoneOnOnceTheySawWhatTheyWaitedFor) {
  WarpPolls polls;
  for (std::uint64_t i = 0; i <= WarpPolls::many; ++i) polls.saw({thread(0), spot, true, 0, 8}, 0);
  EXPECT_TRUE(sees_nothing_new(&polls));
  polls.go_on();
  EXPECT_FALSE(sees_nothing_new(&polls));
}

}  // namespace
}  // namespace inflight::check
