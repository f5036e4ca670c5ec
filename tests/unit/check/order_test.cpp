// The order checker's results for common mistakes and their corrected twins.
#include <gtest/gtest.h>

#include <unordered_map>

#include "gpu/check/order/block.hpp"
#include "gpu/check/order/streams.hpp"
#include "gpu/check/shadow/shadow.hpp"

namespace inflight::order {
namespace {

using shadow::Conflict;
using shadow::Shadow;
using shadow::Why;

constexpr Mask all = ~Mask{0};

class Ordering : public testing::Test {
 protected:
  // Each lane of the warp accesses its own word, the first at `address`.
  void words(Shadow& memory, Block& block, std::uint32_t warp, std::uint64_t address, bool write,
             Mask mask = all, std::uint32_t place = 0) {
    std::uint64_t addresses[lanes];
    for (unsigned l = 0; l < lanes; ++l) addresses[l] = address + 4 * l;
    shadow::Access access{addresses, mask, 4, place, write};
    access.by_texture = by_texture;
    memory.access(block, warp, access, conflicts);
  }
  void one(Shadow& memory, Block& block, std::uint32_t warp, unsigned lane, std::uint64_t address,
           bool write, bool strong = false, Scope scope = Scope::gpu) {
    std::uint64_t addresses[lanes] = {};
    addresses[lane] = address;
    memory.access(block, warp, {addresses, Mask{1} << lane, 4, 0, write, strong, scope}, conflicts);
  }
  void everyone_meets(Block& block) {
    BarrierState barrier;
    for (std::uint32_t w = 0; w < block.warps(); ++w)
      block.arrive_and_wait(barrier, w, block.live(w));
    barrier.complete();
  }
  Shadow shared{Space::shared}, global{Space::global};
  Block block{{1, 0, 64}, {}};
  std::vector<Conflict> conflicts;
  bool by_texture = false;  // how `words` reads
};

TEST_F(Ordering, ABarrierOrdersTheTileBehindIt) {
  words(shared, block, 0, 0, true, all, 7);
  everyone_meets(block);
  words(shared, block, 1, 0, false);
  EXPECT_TRUE(conflicts.empty());
  words(shared, block, 0, 0, true, all, 8);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].why, Why::no_edge);
  EXPECT_EQ(conflicts[0].earlier.row, warp_row(block.row(), Part::thread, 1));
  EXPECT_EQ(conflicts[0].later.place, 8u);
}

TEST_F(Ordering, LanesOfAWarpAreThreadsOfTheirOwn) {
  one(shared, block, 0, 3, 64, true);
  one(shared, block, 0, 4, 64, false);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].earlier.lane, 3u);
  EXPECT_EQ(conflicts[0].later.lane, 4u);
  conflicts.clear();
  block.warp_sync(0, all);
  one(shared, block, 0, 5, 64, false);
  EXPECT_TRUE(conflicts.empty());
}

TEST_F(Ordering, AWaitThatAllowsOneGroupTooManySaysHowMany) {
  const auto copy = [&](std::uint64_t to) {
    std::uint64_t addresses[lanes];
    for (unsigned l = 0; l < lanes; ++l) addresses[l] = to + 4 * l;
    shared.copy(block, 0, {addresses, all, 4, 0, true}, conflicts);
    block.commit(0, all, false);
  };
  copy(0);
  copy(128);
  block.wait_group(0, all, 2);
  words(shared, block, 0, 0, false);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].why, Why::allowed_too_many);
  EXPECT_EQ(conflicts[0].allowed, 2u);
  EXPECT_EQ(conflicts[0].needed, 1u);
  conflicts.clear();
  block.wait_group(0, all, 1);
  words(shared, block, 0, 0, false);
  EXPECT_TRUE(conflicts.empty());
  // A thread cannot wait for another's groups.
  block.wait_group(0, all, 0);
  block.wait_group(1, all, 0);
  words(shared, block, 1, 128, false);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].why, Why::not_observed);
}

// Groups that were committed after the wait do not count: it allowed too many when it was made.
TEST_F(Ordering, AWaitIsJudgedByTheGroupsThatWereThereThen) {
  const Epoch copy = block.epoch();
  EXPECT_EQ(block.allowance_then(0, 0, Part::group_copy, copy), CopyGroups::all);
  for (int group = 0; group < 3; ++group) block.commit(0, all, false);
  block.wait_group(0, all, 3);
  const Epoch newer = block.epoch();
  for (int group = 0; group < 2; ++group) block.commit(0, all, false);
  EXPECT_EQ(block.allowance(0, 0, Part::group_copy, copy), 4u);
  EXPECT_EQ(block.allowance_then(0, 0, Part::group_copy, copy), 2u);
  EXPECT_EQ(block.last_allowed(0, 0, Part::group_copy), 3u);
  EXPECT_EQ(block.allowance_then(0, 0, Part::group_copy, newer), CopyGroups::all);
}

TEST_F(Ordering, ACopyOfNoCommittedGroupIsNotWaitedFor) {
  std::uint64_t addresses[lanes] = {};
  shared.copy(block, 0, {addresses, 1, 16, 0, true}, conflicts);
  block.wait_group(0, 1, 0);
  one(shared, block, 0, 0, 4, false);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].why, Why::not_committed);
  conflicts.clear();
  block.wait_all(0, 1);
  one(shared, block, 0, 0, 4, false);
  EXPECT_TRUE(conflicts.empty());
}

TEST_F(Ordering, ABulkStoreNeedsTheFenceOfThoseWhoWrote) {
  const auto store = [&] {
    const Row row = warp_row(block.row(), Part::bulk_read, 0);
    shared.copy(block, 0, 0, {row, 0, block.epoch()}, {0, 256, 0, false}, conflicts);
  };
  words(shared, block, 1, 0, true);
  block.proxy_fence(0, all, true, true);  // by a warp that did not see the writes
  everyone_meets(block);
  store();
  ASSERT_FALSE(conflicts.empty());
  EXPECT_EQ(conflicts[0].why, Why::proxy_fence);
  conflicts.clear();
  words(shared, block, 1, 0, true);
  conflicts.clear();  // the store may still read
  block.proxy_fence(1, all, true, false);
  everyone_meets(block);
  store();
  EXPECT_TRUE(conflicts.empty());
  block.commit(0, 1, true);
  block.wait_bulk(0, 1, 0, true);
  everyone_meets(block);
  words(shared, block, 1, 0, true);
  EXPECT_TRUE(conflicts.empty());
}

TEST_F(Ordering, AFlagOfTooSmallAScopeIsAWeakEdge) {
  Block other({1, 1, 32}, {});
  for (const Scope scope : {Scope::cta, Scope::gpu}) {
    Location flag;
    conflicts.clear();
    const std::uint64_t data = scope == Scope::cta ? 0 : 4096;
    words(global, block, 0, data, true);
    block.warp_sync(0, all);
    block.strong_write(0, 0, 512, flag, Order::release, scope);
    other.strong_read(0, 0, 512, flag, Order::acquire, scope);
    other.warp_sync(0, all);
    words(global, other, 0, data, false);
    if (scope == Scope::gpu) {
      EXPECT_TRUE(conflicts.empty());
    } else {
      ASSERT_FALSE(conflicts.empty());
      EXPECT_EQ(conflicts[0].why, Why::weak_edge);
    }
  }
}

TEST_F(Ordering, RelaxedAccessesAloneLeaveAWeakEdge) {
  for (const bool overwritten : {false, true}) {
    conflicts.clear();
    Block writer({1, 5, 1}, {}), relay({1, 6, 1}, {}), stranger({1, 7, 1}, {}),
        reader({1, 8, 1}, {});
    Location ready, flag;
    const std::uint64_t data = overwritten ? 8192 : 16384;
    one(global, writer, 0, 0, data, true);
    writer.strong_write(0, 0, 512, ready, Order::relaxed, Scope::gpu);
    relay.strong_write(0, 0, 640, flag, Order::relaxed, Scope::gpu);
    relay.strong_read(0, 0, 512, ready, Order::relaxed, Scope::gpu);
    relay.strong_write(0, 0, 640, flag, Order::relaxed, Scope::gpu);
    if (overwritten) stranger.strong_write(0, 0, 640, flag, Order::relaxed, Scope::gpu);
    reader.strong_read(0, 0, 640, flag, Order::relaxed, Scope::gpu);
    one(global, reader, 0, 0, data, false);
    ASSERT_EQ(conflicts.size(), 1u);
    EXPECT_EQ(conflicts[0].why, overwritten ? Why::no_edge : Why::weak_edge);
  }
}

TEST_F(Ordering, AFenceDoesNotPublishWhatItsThreadLearnsBehindIt) {
  for (const bool fence_first : {true, false}) {
    conflicts.clear();
    Block writer({1, 5, 1}, {}), relay({1, 6, 1}, {}), reader({1, 7, 1}, {});
    Location ready, flag;
    const std::uint64_t data = fence_first ? 8192 : 16384;
    one(global, writer, 0, 0, data, true);
    writer.strong_write(0, 0, 512, ready, Order::release, Scope::gpu);
    if (fence_first) relay.fence(0, 1, Order::acq_rel, Scope::gpu);
    relay.strong_read(0, 0, 512, ready, Order::acquire, Scope::gpu);
    if (!fence_first) relay.fence(0, 1, Order::acq_rel, Scope::gpu);
    relay.strong_write(0, 0, 640, flag, Order::relaxed, Scope::gpu);
    reader.strong_read(0, 0, 640, flag, Order::acquire, Scope::gpu);
    one(global, reader, 0, 0, data, false);
    ASSERT_EQ(conflicts.size(), fence_first ? 1u : 0u);
    for (const Conflict& c : conflicts) EXPECT_EQ(c.why, Why::weak_edge);
  }
}

TEST_F(Ordering, ATicketPublishesNothingThatItsThreadLearntBehindTheFence) {
  for (const bool fence_first : {true, false}) {
    conflicts.clear();
    Block drawer({1, fence_first ? 5u : 8u, 64}, {}), last({1, fence_first ? 6u : 9u, 1}, {});
    Location tickets;
    const std::uint64_t data = fence_first ? 8192 : 16384, count = data + 4096;
    one(global, drawer, 1, 0, data, true);  // by the other warp
    if (fence_first) drawer.fence(0, 1, Order::acq_rel, Scope::gpu);
    everyone_meets(drawer);
    if (!fence_first) drawer.fence(0, 1, Order::acq_rel, Scope::gpu);
    one(global, drawer, 0, 0, count, true, true);
    drawer.ticket(0, 0, count, tickets, Scope::gpu);
    last.strong_read(0, 0, count, tickets, Order::acquire, Scope::gpu);
    one(global, last, 0, 0, count, true);  // for the next launch
    EXPECT_TRUE(conflicts.empty());
    one(global, last, 0, 0, data, false);
    ASSERT_EQ(conflicts.size(), fence_first ? 1u : 0u);
    for (const Conflict& c : conflicts) EXPECT_EQ(c.why, Why::weak_edge);
  }
}

TEST_F(Ordering, APhaseOfAnMbarrierPublishesItsCopies) {
  Mbarrier full;
  block.init(full);
  shared.copy(block, 0, 0, {full.row(), full.lane(), block.tick()}, {0, 1024, 0, true}, conflicts);
  const Knowledge issued = block.issue(0, 0);
  words(shared, block, 1, 128, false);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(conflicts[0].why, Why::not_observed);
  conflicts.clear();
  Block::copied(full, issued);
  block.complete(full);
  block.observe(full, 1, all, Order::acquire, Scope::cta);
  words(shared, block, 1, 128, false);
  EXPECT_TRUE(conflicts.empty());
}

TEST_F(Ordering, APhaseOfAnMbarrierPublishesAllItsArrivals) {
  // Each lane arrives on its own, and often, so that the arrivals are joined in several parts.
  Mbarrier full;
  block.init(full);
  for (unsigned round = 0; round < 20; ++round)
    for (unsigned l = 0; l < lanes; ++l) {
      one(shared, block, 0, l, 4 * l, true);
      block.arrive(full, 0, Mask{1} << l, Order::release, Scope::cta);
    }
  one(shared, block, 0, 3, 512, true);  // after its last arrival
  block.complete(full);
  block.observe(full, 1, all, Order::acquire, Scope::cta);
  words(shared, block, 1, 0, false);
  EXPECT_TRUE(conflicts.empty());
  one(shared, block, 1, 3, 512, false);
  EXPECT_EQ(conflicts.size(), 1u);
}

TEST_F(Ordering, ARelaxedAtomicDoesNotHideAPlainInitialisation) {
  one(shared, block, 0, 0, 0, true);
  one(shared, block, 0, 0, 0, true, true);
  one(shared, block, 1, 0, 0, true, true);
  ASSERT_EQ(conflicts.size(), 1u);  // with the plain store, not with the atomic
  EXPECT_FALSE(conflicts[0].earlier.strong);
}

TEST_F(Ordering, TheTexturePathNeedNotSeeWhatItsOwnLaunchHasWritten) {
  words(global, block, 1, 0, true);
  everyone_meets(block);
  words(global, block, 0, 0, false);
  EXPECT_TRUE(conflicts.empty());
  by_texture = true;
  words(global, block, 0, 0, false);
  ASSERT_FALSE(conflicts.empty());
  EXPECT_EQ(conflicts[0].why, Why::by_texture);
  by_texture = false;
  words(global, block, 1, 4096, true);
  by_texture = true;
  conflicts.clear();
  words(global, block, 0, 4096, false);  // and nothing orders the two
  ASSERT_FALSE(conflicts.empty());
  EXPECT_EQ(conflicts[0].why, Why::no_edge);
}

// Pieces of work in streams, one kernel each.
class StreamOrder : public Ordering {
 protected:
  void kernel(std::uint64_t stream, bool write, std::uint64_t after = 0,
              std::uint64_t after_work = 0) {
    const std::uint64_t work = ++works[stream];
    streams.submit(stream, work);
    if (after) streams.after(stream, after, after_work);
    streams.begin(stream, work);
    const Streams::Launch l = streams.launch(stream);
    Block b({l.number, 0, 32}, l.knows);
    words(global, b, 0, 0, write);
    streams.end(stream, work);
  }
  Streams streams;
  std::unordered_map<std::uint64_t, std::uint64_t> works;
};

TEST_F(StreamOrder, TheTexturePathSeesWhatALaunchBeforeHasWritten) {
  kernel(1, true);
  by_texture = true;
  kernel(1, false);
  EXPECT_TRUE(conflicts.empty());
  kernel(2, false);
  ASSERT_FALSE(conflicts.empty());
  EXPECT_EQ(conflicts[0].why, Why::no_edge);
}

TEST_F(StreamOrder, KernelsAndCopiesOfOneStreamFollowEachOther) {
  kernel(1, true);
  kernel(1, true);
  EXPECT_TRUE(conflicts.empty());
  kernel(2, false);
  ASSERT_EQ(conflicts.size(), 1u);
  conflicts.clear();
  kernel(3, false, 1, 2);
  EXPECT_TRUE(conflicts.empty());
  streams.synchronise_all();
  const Streams::Launch copy = streams.on_host();
  global.host_copy(copy.knows, {block_row(copy.number, 0), 0, 1}, {0, 128, 0, true, false},
                   conflicts);
  kernel(4, false);
  EXPECT_TRUE(conflicts.empty());
}

TEST_F(StreamOrder, WhatAnotherStreamDoesBehindAnEventIsNotWaitedFor) {
  kernel(1, false);
  kernel(1, true);
  kernel(2, false, 1, 1);
  EXPECT_EQ(conflicts.size(), 1u);
}

TEST_F(StreamOrder, WhatTheHostLearnsLaterIsNothingToWorkThatItHasSubmitted) {
  kernel(1, true);
  streams.submit(2, works[2] = 1);
  streams.synchronise(1, 1);
  streams.begin(2, 1);
  const Streams::Launch early = streams.launch(2);
  Block b({early.number, 0, 32}, early.knows);
  words(global, b, 0, 0, false);
  EXPECT_EQ(conflicts.size(), 1u);
  conflicts.clear();
  kernel(3, false);
  EXPECT_TRUE(conflicts.empty());
}

TEST_F(StreamOrder, StepsOfAGraphComeAfterThoseThatTheyName) {
  kernel(1, true);  // the work before the graph
  streams.submit(1, works[1] = 2);
  streams.begin(1, 2);
  const auto step = [&](std::uint64_t number, std::initializer_list<std::uint64_t> after,
                        bool write) {
    streams.step(1, number);
    for (const std::uint64_t other : after) streams.step_after(1, other);
    const Streams::Launch l = streams.launch(1);
    Block b({l.number, 0, 32}, l.knows);
    words(global, b, 0, 0, write);
  };
  step(1, {}, true);
  step(2, {1}, false);
  step(3, {2}, true);
  EXPECT_TRUE(conflicts.empty());
  step(4, {1}, false);  // beside 2 and 3
  EXPECT_EQ(conflicts.size(), 1u);
  conflicts.clear();
  streams.end(1, 2);
  kernel(1, true);  // work after the graph follows all of it
  EXPECT_TRUE(conflicts.empty());
}

TEST_F(StreamOrder, ADependentStepKnowsTheOneInFrontWhenItHasWaited) {
  streams.submit(1, works[1] = 1);
  streams.begin(1, 1);
  streams.step(1, 1);
  const Streams::Launch front = streams.launch(1);
  Block a({front.number, 0, 32}, front.knows);
  words(global, a, 0, 0, true);
  streams.step(1, 2);
  streams.step_after(1, 1, true);
  const Streams::Launch dependent = streams.launch(1, true);
  Block b({dependent.number, 0, 32}, dependent.waited);
  words(global, b, 0, 0, false);
  EXPECT_TRUE(conflicts.empty());
  Block early({dependent.number, 1, 32}, dependent.knows);
  words(global, early, 0, 0, false);
  EXPECT_EQ(conflicts.size(), 1u);
}

// Three kernels, each of which may start before the previous one has ended. Is the first ordered
// before the third?
TEST_F(StreamOrder, WhoLetsOthersBeginOnceItHasWaitedPassesOnThatTheFirstIsDone) {
  struct Case {
    std::vector<bool> waited;  // of the blocks of the second, when they let the third begin
    bool knows;
  };
  for (const Case& each : {Case{{}, false}, Case{{true}, true}, Case{{true, true}, true},
                           Case{{true, false}, false}, Case{{false}, false}}) {
    Streams order;
    const Streams::Launch first = order.launch(1, true), second = order.launch(1, true);
    for (const bool waited : each.waited) order.launch_dependents(1, second.number, waited);
    order.launch_dependents(1, first.number, true);  // one that is no longer the last
    const Streams::Launch third = order.launch(1, true);
    EXPECT_EQ(third.knows.order.floor(block_row(first.number, 0), launch_shift) == always,
              each.knows);
    EXPECT_NE(third.knows.order.floor(block_row(second.number, 0), launch_shift), always);
  }
}

// The second kernel begins early and lets the third begin at its own end only.
TEST_F(StreamOrder, BehindOneThatEndsWithoutAWaitAKernelDoesNotKnowTheFirst) {
  for (const bool waits : {false, true}) {
    Streams order;
    const auto launch = [&](std::uint64_t work, bool dependent, bool programmatic) {
      order.begin(1, work);
      return order.launch(1, dependent, programmatic);
    };
    const auto knows = [](const Streams::Launch& later, const Streams::Launch& earlier) {
      return later.knows.order.floor(block_row(earlier.number, 0), launch_shift) == always;
    };
    const Streams::Launch first = launch(1, false, false), second = launch(2, true, true);
    if (waits) order.has_waited(1, second.number);
    const Streams::Launch third = launch(3, false, true);
    EXPECT_EQ(knows(third, first), waits);
    EXPECT_TRUE(knows(third, second));
    EXPECT_EQ(third.dependent, !waits);
    const Streams::Launch fourth = launch(4, false, true);  // the third has not waited either
    EXPECT_EQ(knows(fourth, first), waits);
    EXPECT_TRUE(knows(fourth, third));
    EXPECT_TRUE(knows(launch(6, false, true), first));  // other work lies in front of this one
  }
}

TEST_F(Ordering, MemoryForgotIsNobodys) {
  words(global, block, 0, 0, true);
  global.forget(0, 64);
  words(global, block, 1, 0, true, 0xffff);
  EXPECT_TRUE(conflicts.empty());
  words(global, block, 1, 0, true, 0xffff0000);
  EXPECT_FALSE(conflicts.empty());
}

TEST_F(Ordering, AThreadCostsFewBytes) {
  Block big({1, 2, 1024}, {});
  EXPECT_LE(big.bytes() / 1024.0, 8.0);
  everyone_meets(big);
  EXPECT_LE(big.bytes() / 1024.0, 8.0);
}

}  // namespace
}  // namespace inflight::order
