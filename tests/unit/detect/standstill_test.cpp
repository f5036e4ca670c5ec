// Which wait of a cluster that stands still is the cause of the others.
#include "gpu/check/detect/waiting/standstill.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "gpu/async/mbarrier.hpp"

namespace inflight::check {
namespace {

namespace mb = async::mbarrier;
using Cause = Standstill::Cause;
using Op = MbarrierOp::Op;

Kernel kernel_of_four_warps() {
  Kernel kernel;
  kernel.block = {4 * lanes, 1, 1};
  return kernel;
}

// A block of four warps. A test writes down what they did, in order, and what they now wait for.
// The numbers of instructions only tell them apart.
class StandsStill : public testing::Test {
 protected:
  static Who warp(std::uint32_t number, std::uint32_t instruction) {
    return {1, 0, number, ~Mask{0}, instruction};
  }
  static Who thread(std::uint32_t of_warp, std::uint32_t instruction) {
    return {1, 0, of_warp, 1, instruction};
  }

  struct Mbarrier {
    std::uint32_t address = 0;
    mb::Word word = 0;  // its state after the last operation
  };
  Mbarrier init(std::uint32_t address, std::uint32_t count) {
    Mbarrier at{address, 0};
    mb::init(at.word, count);
    tell(at, thread(0, 1), Op::init, {});
    return at;
  }
  void arrive(Mbarrier& at, const Who& who) { tell(at, who, Op::arrive, mb::arrive(at.word)); }
  void arrive_expect(Mbarrier& at, const Who& who, std::uint32_t bytes) {
    tell(at, who, Op::arrive, mb::arrive_expect_tx(at.word, bytes), bytes);
  }
  void expect(Mbarrier& at, const Who& who, std::uint32_t bytes) {
    tell(at, who, Op::expect_tx, mb::expect_tx(at.word, bytes), bytes);
  }
  // A bulk copy that is complete at once.
  void copy(Mbarrier& at, const Who& who, std::uint32_t bytes) {
    CopyIssued issued;
    issued.who = who, issued.id = ++copies_, issued.mbarrier = at.address, issued.tx_bytes = bytes;
    state_.mbarrier(0, at.address).copy_issued(issued, who.warp, state_.order, breaches_);
    tell(at, who, Op::complete_tx, mb::complete_tx(at.word, bytes), bytes, issued.id);
  }
  // A wait that returns, because the phase is complete.
  void pass(Mbarrier& at, const Who& who, std::uint32_t parity) {
    ASSERT_TRUE(mb::test_parity(at.word, parity).done);
    MbarrierOp op = after(at, who, Op::try_wait);
    op.by_parity = true, op.parity = parity, op.done = true;
    note(op);
  }
  void arrive_at_barrier(std::uint32_t id, const Who& who, std::uint32_t count,
                         std::uint32_t arrived) {
    Barrier event;
    event.who = who, event.id = id, event.expected = event.given = count, event.arrived = arrived;
    state_.barriers[0].note(event, who.warp, state_.block_threads, state_.order, barrier_breaches_);
  }

  static Stuck::Threads waits_for(Wait::For what, const Who& who, std::uint32_t id = 0) {
    Wait wait;
    wait.who = who, wait.what = what, wait.id = id;
    return {wait, false};
  }
  static Stuck::Threads waits_for(const Mbarrier& at, const Who& who) {
    return waits_for(Wait::For::mbarrier, who, at.address);
  }
  Standstill standstill(const std::vector<Stuck::Threads>& threads) {
    Stuck stuck;
    stuck.kernel = &kernel_, stuck.threads = threads;
    return {stuck, state_};
  }

 private:
  static MbarrierOp after(const Mbarrier& at, const Who& who, Op what) {
    const mb::State now = mb::decode(at.word);
    MbarrierOp op;
    op.who = who, op.op = what, op.address = at.address, op.count = 1;
    op.phase_parity = now.parity, op.expected = now.expected, op.pending = now.pending;
    op.tx_count = now.tx_count;
    return op;
  }
  void tell(const Mbarrier& at, const Who& who, Op what, const mb::Step& step,
            std::uint32_t bytes = 0, std::uint64_t copy = 0) {
    MbarrierOp op = after(at, who, what);
    op.done = step.completed, op.violation = step.violation;
    op.tx_bytes = bytes, op.copy = copy;
    note(op);
  }
  void note(const MbarrierOp& op) {
    state_.mbarrier(0, op.address).note(op, op.who.warp, state_.order, breaches_);
  }

  const Kernel kernel_ = kernel_of_four_warps();
  ClusterState state_{kernel_};
  MbarrierHistory::Breaches breaches_;
  BlockBarriers::Breaches barrier_breaches_;
  std::uint64_t copies_ = 0;
};

TEST_F(StandsStill, WithoutThreads) { EXPECT_TRUE(standstill({}).empty()); }

TEST_F(StandsStill, GroupsThreadsThatWaitForTheSame) {
  const Mbarrier full = init(0, 1), empty = init(8, 1);
  Who other_lane = thread(1, 11);
  other_lane.mask = 2;
  Stuck::Threads polling = waits_for(full, warp(3, 10));
  polling.polls = true;
  const Standstill still =
      standstill({waits_for(full, warp(0, 10)), waits_for(full, thread(1, 10)),
                  waits_for(full, other_lane), waits_for(empty, warp(2, 10)), polling});
  ASSERT_EQ(still.groups().size(), 4u);
  EXPECT_EQ(still.groups()[0].threads, 33u);
  EXPECT_EQ(still.groups()[1].first.wait.who.instruction, 11u);
  EXPECT_EQ(still.groups()[2].first.wait.id, empty.address);
  EXPECT_EQ(still.groups()[3].mbarrier, nullptr);  // what they poll is not known
  EXPECT_EQ(still.living(0), 98u);
  EXPECT_EQ(still.exited(0), 30u);
}

TEST_F(StandsStill, ForBytesBeforeArrivals) {
  Mbarrier full = init(0, 1), done = init(8, 2);
  arrive_expect(full, thread(0, 2), 128);
  copy(full, thread(0, 3), 64);
  arrive(done, thread(1, 4));
  const Standstill still = standstill({waits_for(done, warp(1, 10)), waits_for(full, warp(2, 11))});
  EXPECT_EQ(still.cause(), Cause::lacking_bytes);
  EXPECT_EQ(still.root().first.wait.id, full.address);
  EXPECT_EQ(still.root().mbarrier->tx_count(), 64);
  EXPECT_EQ(still.exited(0), 64u);
}

TEST_F(StandsStill, ForAnArrivalThatExpectTxIsNot) {
  Mbarrier full = init(0, 1);
  expect(full, thread(0, 2), 64);
  copy(full, thread(0, 3), 64);
  EXPECT_EQ(standstill({waits_for(full, warp(1, 10))}).cause(), Cause::lacking_arrival);
}

TEST_F(StandsStill, ForArrivalsBeforeAnMbarrierThatNoneUsed) {
  Mbarrier unused = init(0, 1), done = init(8, 3);
  arrive(done, thread(0, 2));
  const Standstill still =
      standstill({waits_for(unused, warp(0, 10)), waits_for(done, warp(1, 11))});
  EXPECT_EQ(still.cause(), Cause::lacking_arrivals);
  EXPECT_EQ(still.root().first.wait.id, done.address);
  EXPECT_EQ(still.root().mbarrier->pending(), 2u);
}

TEST_F(StandsStill, InAPhaseThatItsThreadsSkippedTo) {
  Mbarrier full = init(0, 1);
  arrive(full, thread(0, 2));
  const Standstill still = standstill({waits_for(full, warp(1, 10))});
  EXPECT_EQ(still.cause(), Cause::wrong_phase);
  EXPECT_FALSE(still.doubt());
}

TEST_F(StandsStill, TwoPhasesBehind) {
  Mbarrier full = init(0, 1);
  arrive(full, thread(0, 2));
  arrive(full, thread(0, 3));
  const Standstill still = standstill({waits_for(full, warp(1, 10))});
  EXPECT_EQ(still.cause(), Cause::overrun);
  EXPECT_FALSE(still.doubt());
}

TEST_F(StandsStill, BehindAWaitThatMayBeOverrun) {
  Mbarrier full = init(0, 1), done = init(8, 1);
  arrive(full, thread(0, 2));
  pass(full, warp(1, 9), 0);
  arrive(full, thread(0, 3));
  const Standstill still = standstill({waits_for(done, warp(2, 11))});
  ASSERT_TRUE(still.doubt());
  EXPECT_EQ(still.doubt()->wait.what, MbarrierBreach::What::overrun);
  EXPECT_EQ(still.doubt()->wait.who.instruction, 9u);
}

TEST_F(StandsStill, NotInTheWrongPhaseAfterTheOneBefore) {
  Mbarrier full = init(0, 1);
  arrive(full, thread(0, 2));
  pass(full, warp(1, 9), 0);
  EXPECT_EQ(standstill({waits_for(full, warp(1, 10))}).cause(), Cause::circle);
}

TEST_F(StandsStill, BehindAWaitThatReturnedAtOnce) {
  Mbarrier full = init(0, 1), done = init(8, 1);
  arrive(full, thread(0, 2));
  pass(full, warp(1, 9), 0);
  pass(full, warp(1, 10), 0);
  const Standstill still = standstill({waits_for(done, warp(1, 11))});
  ASSERT_TRUE(still.doubt());
  EXPECT_EQ(still.doubt()->place.address, full.address);
  EXPECT_EQ(still.doubt()->wait.what, MbarrierBreach::What::repeated_wait);
  EXPECT_EQ(still.doubt()->wait.who.instruction, 10u);
}

TEST_F(StandsStill, InACircle) {
  const Mbarrier full = init(0, 1), empty = init(8, 1);
  const Standstill still =
      standstill({waits_for(full, warp(0, 10)), waits_for(empty, warp(1, 11))});
  EXPECT_EQ(still.cause(), Cause::circle);
  EXPECT_EQ(still.root().first.wait.id, full.address);
}

TEST_F(StandsStill, ForAWarpThatWaitsBeforeItCopiesOn) {
  Mbarrier full = init(0, 1), empty = init(8, 1);
  for (const bool copied : {true, false}) {
    arrive_expect(full, thread(1, 2), 64);
    if (copied) copy(full, thread(0, 3), 64);
  }
  const Standstill still =
      standstill({waits_for(full, warp(1, 10)), waits_for(empty, thread(0, 11))});
  EXPECT_EQ(still.cause(), Cause::waiting_copier);
  EXPECT_EQ(still.root().first.wait.id, empty.address);
}

TEST_F(StandsStill, InAnEndlessLoopBeforeAllElse) {
  Mbarrier full = init(0, 1);
  arrive_expect(full, thread(0, 2), 128);
  const Standstill still =
      standstill({waits_for(full, warp(0, 10)), waits_for(Wait::For::warpgroup, warp(1, 11)),
                  waits_for(Wait::For::nothing, warp(2, 12))});
  EXPECT_EQ(still.cause(), Cause::endless_loop);
  EXPECT_EQ(still.root().first.wait.who.instruction, 12u);
}

TEST_F(StandsStill, ForRegistersBeforeMbarriers) {
  Mbarrier full = init(0, 1);
  arrive_expect(full, thread(0, 2), 128);
  const Standstill still =
      standstill({waits_for(full, warp(0, 10)), waits_for(Wait::For::warpgroup, warp(1, 11))});
  EXPECT_EQ(still.cause(), Cause::registers);
}

TEST_F(StandsStill, AtABarrierWithTooHighACount) {
  arrive_at_barrier(1, warp(0, 10), 96, 32);
  arrive_at_barrier(1, warp(1, 10), 96, 64);
  const Standstill still = standstill({waits_for(Wait::For::barrier, warp(0, 10), 1),
                                       waits_for(Wait::For::barrier, warp(1, 10), 1)});
  EXPECT_EQ(still.cause(), Cause::barrier_count);
  EXPECT_EQ(still.expected(), 96u);
  EXPECT_EQ(still.barrier_of(still.root().first.wait).arrived, 64u);
}

TEST_F(StandsStill, AtDifferentBarriers) {
  arrive_at_barrier(1, warp(0, 10), 64, 32);
  arrive_at_barrier(2, warp(1, 11), 64, 32);
  const Standstill still = standstill({waits_for(Wait::For::barrier, warp(0, 10), 1),
                                       waits_for(Wait::For::barrier, warp(1, 11), 2)});
  EXPECT_EQ(still.cause(), Cause::different_barriers);
}

TEST_F(StandsStill, InACircleIfSomeSleep) {
  arrive_at_barrier(1, warp(0, 10), 64, 32);
  const Standstill still = standstill(
      {waits_for(Wait::For::barrier, warp(0, 10), 1), waits_for(Wait::For::sleep, warp(1, 11))});
  EXPECT_EQ(still.cause(), Cause::circle);
}

}  // namespace
}  // namespace inflight::check
