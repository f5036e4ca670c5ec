// A launch stands still after turns in which its clusters only polled, however long those took.
#include "gpu/machine/run/standstill.hpp"

#include <array>
#include <chrono>
#include <thread>

#include "gpu/check/listener.hpp"
#include "gpu/host/awake_time.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using namespace std::chrono_literals;
using Next = Standstill::Next;

constexpr std::uint64_t hour = 3'600'000'000'000;  // ns

// Polls until the cluster stands still, and returns how many turns that took.
std::uint64_t turns_until_it_stands(Standstill& standstill, IdleTurns& cluster) {
  std::uint64_t turns = 1;
  while (!standstill.polled(cluster, false, 0)) ++turns;
  return turns;
}

TEST(Standstill, IsAMatterOfTurnsAndNotOfTime) {
  Standstill standstill;
  IdleTurns cluster;
  for (std::uint64_t turn = 1; turn < Standstill::many; ++turn)
    ASSERT_FALSE(standstill.polled(cluster, false, turn * hour)) << "turn " << turn;
  EXPECT_TRUE(standstill.polled(cluster, false, Standstill::many * hour));
  IdleTurns at_once;
  EXPECT_EQ(turns_until_it_stands(standstill, at_once), Standstill::many);
}

TEST(Standstill, LetsWaitsEndThatHaveATimeLimit) {
  Standstill standstill;
  IdleTurns cluster;
  for (std::uint64_t turn = 0; turn < 10 * Standstill::many; ++turn)
    ASSERT_FALSE(standstill.polled(cluster, true, 5)) << "turn " << turn;
  EXPECT_FALSE(standstill.polled(cluster, false, 4 + Standstill::longest_timed_wait));
  EXPECT_TRUE(standstill.polled(cluster, false, 5 + Standstill::longest_timed_wait));
}

TEST(Standstill, BeginsAnewWhenAnythingMoves) {
  Standstill standstill;
  IdleTurns cluster;
  for (std::uint64_t turn = 1; turn < Standstill::many; ++turn)
    standstill.polled(cluster, false, 0);
  standstill.moved();
  EXPECT_EQ(turns_until_it_stands(standstill, cluster), Standstill::many);
  EXPECT_EQ(standstill.next(cluster, 1), Next::flush);
  standstill.moved();
  EXPECT_EQ(standstill.next(cluster, 1), Next::go_on);
}

TEST(Standstill, IsOneOfAllClustersThatHaveNothingInFlight) {
  Standstill standstill;
  IdleTurns one, other;
  turns_until_it_stands(standstill, one);
  EXPECT_EQ(standstill.next(one, 2), Next::go_on);  // the other has not begun, or still works
  turns_until_it_stands(standstill, other);
  EXPECT_EQ(standstill.next(one, 2), Next::flush);
  standstill.flushed(one);
  EXPECT_EQ(standstill.next(one, 2), Next::go_on);
  EXPECT_EQ(standstill.next(other, 2), Next::flush);
  standstill.moved();  // a copy of the other has landed
  EXPECT_EQ(standstill.next(one, 2), Next::go_on);
  for (IdleTurns* each : {&one, &other}) turns_until_it_stands(standstill, *each);
  for (IdleTurns* each : {&one, &other}) standstill.flushed(*each);
  EXPECT_EQ(standstill.next(one, 2), Next::stands);
  EXPECT_EQ(standstill.next(other, 3), Next::go_on);
}

TEST(PollingPatience, EndsAfterTurnsAndNotAfterTime) {
  const std::array<std::uint64_t, 1> turns{0};
  PollingPatience patience;
  for (std::uint64_t turn = 1; turn < PollingPatience::long_enough; ++turn) {
    patience.turn(1, turn * 1h);
    ASSERT_FALSE(patience.over(turns));
  }
  patience.turn(1, 0h);
  EXPECT_TRUE(patience.over(turns));
  patience.turn(2, 0h);  // something has moved
  EXPECT_FALSE(patience.over(turns));
}

TEST(PollingPatience, WaitsForTheEndOfTurnsThatHadBegun) {
  std::array<std::uint64_t, 3> turns{0, 7, 4};  // the second worker is in a turn
  PollingPatience patience;
  for (std::uint64_t turn = 0; turn <= PollingPatience::long_enough; ++turn)
    patience.turn(1, turn * 1ms);
  EXPECT_FALSE(patience.over(turns));
  EXPECT_EQ(patience.idle(), PollingPatience::long_enough * 1ms);
  turns[2] = 5;
  patience.turn(1, 1h);
  EXPECT_FALSE(patience.over(turns));
  turns[1] = 9;  // it has begun another one
  EXPECT_TRUE(patience.over(turns));
  EXPECT_EQ(patience.idle(), PollingPatience::long_enough * 1ms);
  patience.renew();
  EXPECT_FALSE(patience.due());
}

TEST(AwakeTime, LeavesOutPauses) {
  host::AwakeTime awake;
  const host::AwakeTime::Clock::time_point begin{1h};
  const auto before = awake.at(begin);
  EXPECT_EQ(awake.at(begin + 100us) - before, 100us);
  EXPECT_EQ(awake.at(begin + 2h) - before, 100us + host::AwakeTime::longest);
  EXPECT_EQ(awake.at(begin + 2h + 50us) - before, 150us + host::AwakeTime::longest);
}

TEST(AwakeTime, OfAWaitIsItsNumberOfSteps) {
  int steps = 0;
  EXPECT_FALSE(
      host::wait_awake(5 * host::AwakeTime::longest, [&](auto) { return ++steps, false; }));
  EXPECT_EQ(steps, 5);
  EXPECT_TRUE(host::wait_awake(5 * host::AwakeTime::longest, [&](auto) { return ++steps == 7; }));
}

// Answers that a launch is at a standstill whenever it is asked. Stops the host's thread once, long
// after the first test of an mbarrier.
class Hasty : public check::Listener {
 public:
  Hasty(std::uint32_t after, std::chrono::milliseconds pause) : after_(after), pause_(pause) {}
  check::Topic topics() const override { return check::Topic::hangs | check::Topic::mbarriers; }
  void mbarrier(const check::MbarrierOp& op) override {
    tests += op.op == check::MbarrierOp::Op::test_wait || op.op == check::MbarrierOp::Op::try_wait;
    if (tests == after_) std::this_thread::sleep_for(pause_);
  }
  bool is_livelocked(const check::Stuck&) override { return ++asked, true; }
  std::uint32_t tests = 0, asked = 0;

 private:
  const std::uint32_t after_;
  const std::chrono::milliseconds pause_;
};

class StandstillOfLaunches : public KernelRunner {
 protected:
  Outcome run_watched(check::Listener& listener, const std::string& body,
                      std::uint32_t threads = 32) {
    options.listener = &listener;
    options.workers = 1;
    return run(link(".shared .align 8 .b64 bar;\n.shared .align 4 .b32 flag;\n" + entry(0, R"(
  .reg .b32 %r<8>; .reg .pred %p<4>;
)" + body + "\n  ret;")),
               {.block = {threads, 1, 1}}, {});
  }
};

// The tests fail 4,096 times because a listener may see what a thread does after a failure.
TEST_F(StandstillOfLaunches, AreNotFoundInFailuresThatTheCheckerMade) {
  Hasty hasty(2000, 2500ms);
  const Outcome outcome = run_watched(hasty, R"(
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 mbarrier.init.shared.b64 [bar], 32;
  bar.warp.sync 0xffffffff;
  mov.u32 %r1, 0;
COUNT:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 4;
  @%p1 bra COUNT;
  cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
WAIT:
  mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;
  @!%p1 bra WAIT;)");
  EXPECT_TRUE(outcome.ok()) << outcome.report;
  EXPECT_GT(hasty.tests, 4000u);
  EXPECT_EQ(hasty.asked, 0u);
}

// It gives up after 5,000 tries, and then arrives itself.
TEST_F(StandstillOfLaunches, AreNotFoundBeforeABoundedNumberOfTriesAfterAPause) {
  Hasty hasty(100, 300ms);
  const Outcome outcome = run_watched(hasty, R"(
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 exit;
  mbarrier.init.shared.b64 [bar], 1;
  mov.u32 %r1, 0;
TRY:
  mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
  @%p1 bra DONE;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p2, %r1, 5000;
  @%p2 bra TRY;
  mbarrier.arrive.shared.b64 _, [bar];
  bra.uni TRY;
DONE:)");
  EXPECT_TRUE(outcome.ok()) << outcome.report;
  EXPECT_GT(hasty.tests, 5000u);
}

// One warp polls what the other stores once its waits have failed 3,000 times.
TEST_F(StandstillOfLaunches, AreNotFoundWhileOtherThreadsMayGiveUpTheirWaits) {
  Hasty hasty(0, 0ms);
  const Outcome outcome = run_watched(hasty, R"(
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 mbarrier.init.shared.b64 [bar], 1;
  bar.sync 0;
  setp.ge.u32 %p1, %r0, 32;
  @%p1 bra POLL;
  mov.u32 %r1, 0;
TRY:
  mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
  @%p2 bra DONE;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p2, %r1, 3000;
  @%p2 bra TRY;
  st.volatile.shared.u32 [flag], 1;
  bra.uni DONE;
POLL:
  ld.volatile.shared.u32 %r1, [flag];
  setp.eq.u32 %p3, %r1, 0;
  @%p3 bra POLL;
DONE:)",
                                      64);
  EXPECT_TRUE(outcome.ok()) << outcome.report;
  EXPECT_EQ(hasty.asked, 0u);
}

TEST_F(StandstillOfLaunches, EndThemAsDeadlocks) {
  Hasty hasty(0, 0ms);
  EXPECT_EQ(run_watched(hasty, R"(
POLL:
  ld.volatile.shared.u32 %r1, [flag];
  setp.eq.u32 %p0, %r1, 0;
  @%p0 bra POLL;)")
                .kind,
            FaultKind::deadlock);
  EXPECT_EQ(hasty.asked, 1u);
}

}  // namespace
}  // namespace inflight::machine
