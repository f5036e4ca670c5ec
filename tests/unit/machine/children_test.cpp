// The launches that a grid's streams and events allow to start next.
#include "gpu/machine/children/children.hpp"

#include <gtest/gtest.h>

namespace inflight::machine {
namespace {

class ChildrenTest : public testing::Test {
 protected:
  Children children{async::late};

  void launch(std::uint64_t number, std::uint64_t stream, ThreadOfGrid by = {}, bool own = false) {
    Child child;
    child.launch.id = number;
    child.by = by;
    children.launch(std::move(child), stream, own);
  }
  // Starts all launches that may start now, and returns their numbers.
  std::vector<std::uint64_t> begin() {
    std::vector<std::uint64_t> numbers;
    while (const auto child = children.next()) numbers.push_back(child->number());
    return numbers;
  }
  using Numbers = std::vector<std::uint64_t>;
};

TEST_F(ChildrenTest, AStreamsLaunchesComeOneAfterTheOther) {
  const auto a = children.create_stream(), b = children.create_stream();
  launch(1, a), launch(2, a), launch(3, b);
  EXPECT_EQ(begin(), (Numbers{1, 3}));
  children.ended(3);
  EXPECT_EQ(begin(), Numbers{});
  children.ended(1);
  EXPECT_EQ(begin(), Numbers{2});
}

TEST_F(ChildrenTest, BlocksHaveNullStreamsOfTheirOwn) {
  launch(1, Children::null_stream, {0, 0}), launch(2, Children::null_stream, {0, 33});
  launch(3, Children::null_stream, {1, 0});
  EXPECT_EQ(begin(), (Numbers{1, 3}));
}

TEST_F(ChildrenTest, ThreadsMayHaveNullStreamsOfTheirOwn) {
  launch(1, Children::null_stream, {0, 0}, true), launch(2, Children::null_stream, {0, 1}, true);
  launch(3, Children::null_stream, {0, 0}, true);
  EXPECT_EQ(begin(), (Numbers{1, 2}));
}

TEST_F(ChildrenTest, WhatIsDetachedWaitsForNothing) {
  launch(1, Children::detached_stream), launch(2, Children::detached_stream);
  EXPECT_EQ(begin(), (Numbers{1, 2}));
}

TEST_F(ChildrenTest, AnEventStandsForWhatWasInTheStream) {
  const auto a = children.create_stream(), b = children.create_stream();
  const auto event = children.create_event();
  launch(1, a);
  EXPECT_TRUE(children.record(event, a, {}, false));
  launch(2, a), launch(3, b);
  EXPECT_TRUE(children.wait(b, event, {}, false));
  launch(4, b), launch(5, b);
  EXPECT_EQ(begin(), (Numbers{1, 3}));
  children.ended(3);
  EXPECT_EQ(begin(), Numbers{});
  children.ended(1);
  EXPECT_EQ(begin(), (Numbers{2, 4}));
  children.ended(4);
  EXPECT_EQ(begin(), Numbers{5});
}

TEST_F(ChildrenTest, OnlyStreamsThatThereAreTakeLaunches) {
  const auto a = children.create_stream();
  EXPECT_TRUE(children.has_stream(a));
  EXPECT_FALSE(children.has_stream(a + 100));
  for (std::uint64_t predefined : {Children::null_stream, Children::thread_stream,
                                   Children::tail_stream, Children::detached_stream})
    EXPECT_TRUE(children.takes(predefined)) << predefined;
  EXPECT_TRUE(children.takes(a));
  EXPECT_FALSE(children.takes(a + 100));
  EXPECT_FALSE(children.record(a + 100, a, {}, false));
}

TEST_F(ChildrenTest, ALaunchSaysWhatItComesAfter) {
  const auto a = children.create_stream();
  launch(7, a), launch(8, a);
  EXPECT_EQ(children.next()->launch.origin.after, Numbers{});
  children.ended(7);
  EXPECT_EQ(children.next()->launch.origin.after, Numbers{7});
}

TEST_F(ChildrenTest, TailsComeBehindTheGrid) {
  launch(1, Children::tail_stream), launch(2, Children::null_stream),
      launch(3, Children::tail_stream);
  EXPECT_EQ(begin(), Numbers{2});
  const auto tails = children.tails();
  ASSERT_EQ(tails.size(), 2u);
  EXPECT_EQ(tails[0].number(), 1u);
  EXPECT_TRUE(tails[0].launch.origin.tail);
  EXPECT_EQ(tails[1].number(), 3u);
}

TEST_F(ChildrenTest, WhatHasNotBegunIsPending) {
  launch(1, Children::null_stream), launch(2, Children::null_stream),
      launch(3, Children::tail_stream);
  EXPECT_EQ(children.pending(), 2u);
  EXPECT_EQ(children.tail_count(), 1u);
  children.next();
  EXPECT_EQ(children.pending(), 1u);
  children.drop();
  EXPECT_EQ(children.pending(), 0u);
  EXPECT_EQ(begin(), Numbers{});
}

TEST_F(ChildrenTest, AwaitEndsWhenTheGridHasEndedAndNothingIsLeft) {
  launch(1, Children::null_stream);
  children.close();
  EXPECT_TRUE(children.await());
  begin();
  EXPECT_FALSE(children.await());
}

TEST_F(ChildrenTest, EachThreadHasItsOwnError) {
  children.set_error({0, 1}, 9);
  EXPECT_EQ(children.error({0, 0}, true), 0);
  EXPECT_EQ(children.error({0, 1}, false), 9);
  EXPECT_EQ(children.error({0, 1}, true), 9);
  EXPECT_EQ(children.error({0, 1}, true), 0);
}

TEST_F(ChildrenTest, AStreamThatWaitsForItsOwnEventWaitsForNothingMore) {
  const auto a = children.create_stream(), event = children.create_event();
  launch(1, a);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(children.record(event, a, {}, false));
    EXPECT_TRUE(children.wait(a, event, {}, false));
  }
  launch(2, a);
  EXPECT_EQ(begin(), Numbers{1});
  children.ended(1);
  EXPECT_EQ(children.next()->launch.origin.after, Numbers{1});
}

TEST_F(ChildrenTest, ThereIsNoRoomForAnyNumberOfStreamsAndEvents) {
  constexpr unsigned too_many = 4 << 20;
  {
    Children others{async::late};
    unsigned made = 0;
    for (; made < too_many && Children::has_room(); made += 2)
      others.create_stream(), others.create_event();
    EXPECT_GT(made, 10000u);
    EXPECT_LT(made, too_many);
  }
  EXPECT_TRUE(Children::has_room());
}

TEST_F(ChildrenTest, ThereIsNoRoomForAnyNumberOfLongLists) {
  const auto event = children.create_event();
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const auto stream = children.create_stream();
    launch(1 + i, stream);
    children.record(event, stream, {}, false);
    children.wait(Children::null_stream, event, {}, false);
  }
  unsigned made = 0;
  for (; made < 100000 && Children::has_room(); ++made)
    children.record(children.create_event(), Children::null_stream, {}, false);
  EXPECT_LT(made, 100000u);
}

TEST_F(ChildrenTest, LaunchesThatHaveEndedTakeNoRoom) {
  const auto a = children.create_stream();
  for (std::uint64_t i = 0; i < 300000; ++i) {
    launch(1 + i, a);
    ASSERT_EQ(begin(), Numbers{1 + i});
    children.ended(1 + i);
  }
  EXPECT_TRUE(Children::has_room());
}

TEST_F(ChildrenTest, ABlocksErrorsAndNullStreamsEndWithIt) {
  const ThreadOfGrid own{3, 7};
  launch(1, Children::null_stream, own, true);
  children.set_error(own, 9), children.set_error({4, 0}, 8);
  children.block_ended(3);
  EXPECT_EQ(children.error(own, true), 0);
  EXPECT_EQ(children.error({4, 0}, true), 8);
  launch(2, Children::null_stream, own, true);
  EXPECT_EQ(begin(), (Numbers{1, 2}));
}

// With any choice, no launch starts before those that it follows.
TEST_F(ChildrenTest, ShuffledOrdersKeepStreams) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Children shuffled(async::shuffled(seed));
    const std::uint64_t streams[] = {shuffled.create_stream(), shuffled.create_stream(),
                                     shuffled.create_stream()};
    for (std::uint64_t i = 0; i < 30; ++i) {
      Child child;
      child.launch.id = 1 + i;
      shuffled.launch(std::move(child), streams[i % 3], false);
    }
    std::uint64_t last[3] = {};
    for (std::uint64_t i = 0; i < 30; ++i) {
      const auto child = shuffled.next();
      ASSERT_TRUE(child);
      std::uint64_t& before = last[(child->number() - 1) % 3];
      EXPECT_GT(child->number(), before);
      before = child->number();
      shuffled.ended(child->number());
    }
  }
}

}  // namespace
}  // namespace inflight::machine
