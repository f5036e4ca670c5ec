// The turns in which warps and blocks run, and how their clocks advance.
#include "gpu/machine/run/turns.hpp"

#include <set>
#include <thread>

#include "gpu/machine/run/clock.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

using Kind = Turns::Kind;

class TurnsOfWarps : public KernelRunner {
 protected:
  // The order in which the warps of each block take tickets, a few times each.
  std::vector<std::uint32_t> tickets(Turns turns, unsigned workers) {
    options.turns = turns;
    options.workers = workers;
    const std::uint64_t out = upload(std::vector<std::uint32_t>(blocks * warps * rounds));
    const Outcome o = run(link(".shared .align 4 .b32 ticket;\n" + entry(1, R"(
  .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [p0];
  mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra DONE;
  mov.u32 %r4, %ctaid.x; mul.lo.u32 %r5, %r4, 64;
  mov.u32 %r6, 0;
AGAIN:
  atom.shared.add.u32 %r7, [ticket], 1;
  add.u32 %r8, %r5, %r7; mul.wide.u32 %rd2, %r8, 4; add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2;
  add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 8; @%p2 bra AGAIN;
DONE:
  ret;)")),
                          {{blocks, 1, 1}, {warps * 32, 1, 1}}, {out});
    EXPECT_TRUE(o.ok()) << o.report;
    return download<std::uint32_t>(out, blocks * warps * rounds);
  }
  static constexpr std::uint32_t blocks = 20, warps = 8, rounds = 8;

  // The sum of four warps' non-atomic increments of one word in shared memory, 10 each.
  std::uint32_t increments(Turns turns) {
    options.turns = turns;
    const std::uint64_t out = upload(std::vector<std::uint32_t>(1));
    const Outcome o = run(link(".shared .align 4 .b32 word;\n" + entry(1, R"(
  .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [p0];
  mov.u32 %r1, 0;
AGAIN:
  ld.shared.u32 %r2, [word];
  mov.u32 %r3, 1; mov.u32 %r4, %r3; mov.u32 %r5, %r4; mov.u32 %r6, %r5; mov.u32 %r7, %r6;
  mov.u32 %r8, %r7; mov.u32 %r9, %r8; mov.u32 %r10, %r9;
  add.u32 %r2, %r2, %r10; st.shared.u32 [word], %r2;
  add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 10; @%p1 bra AGAIN;
  bar.sync 0;
  ld.shared.u32 %r2, [word]; st.global.u32 [%rd1], %r2;
  ret;)")),
                          {{1, 1, 1}, {128, 1, 1}}, {out});
    EXPECT_TRUE(o.ok()) << o.report;
    return download<std::uint32_t>(out, 1)[0];
  }
};

TEST_F(TurnsOfWarps, AreTheSameForASeedWhateverTheNumberOfWorkers) {
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto alone = tickets({Kind::random, 0, seed}, 1);
    EXPECT_EQ(tickets({Kind::random, 0, seed}, 4), alone) << "seed " << seed;
    orders.insert(alone);
  }
  EXPECT_EQ(orders.size(), 5u);
}

TEST_F(TurnsOfWarps, OfOneInstructionAreInStep) {
  EXPECT_EQ(increments({Kind::fixed, 1, 0}), 10u);  // all warps read before one writes
  EXPECT_EQ(increments({Kind::fixed, 100000, 0}), 40u);
}

TEST_F(TurnsOfWarps, BeginPhasesTogetherAsOnAChip) { EXPECT_EQ(increments({}), 10u); }

// Two threads of different warps, or of one, do what never ends if one always stops at its end: one
// waits until it reads 0 where the other writes 0 and then 1, again and again.
class EternalPatterns : public KernelRunner {
 protected:
  void expect_end(const std::string& turns_away, const std::string& waits, Turns turns) {
    for (const std::uint32_t second : {1u, 32u}) {
      options.turns = turns;
      options.workers = 1;
      options.timeout = std::chrono::seconds(100);  // for ThreadSanitizer
      const std::uint64_t x = upload(std::vector<std::uint32_t>{1, 0});
      const Outcome o = run(link(entry(1, R"(
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [p0];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p0, %r1, 0; @%p0 bra WAIT;
  setp.eq.u32 %p1, %r1, )" + std::to_string(second) +
                                              "; @%p1 bra CHANGE; ret;\nWAIT:\n" + waits +
                                              "\nCHANGE:\n" + turns_away + "\n")),
                            {{1, 1, 1}, {64, 1, 1}}, {x});
      EXPECT_TRUE(o.ok()) << "thread " << second << ": " << o.report;
    }
  }
};

TEST_F(EternalPatterns, OfExchangesAreBroken) {
  for (const Turns turns : {Turns{}, Turns{Kind::fixed, 64, 0}})
    expect_end(
        "atom.relaxed.gpu.exch.b32 %r2, [%rd1], 0; atom.relaxed.gpu.exch.b32 %r3, [%rd1], 1;"
        "setp.eq.u32 %p2, %r3, 0; @%p2 bra CHANGE; ret;",
        "atom.relaxed.gpu.exch.b32 %r2, [%rd1], 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra WAIT; ret;",
        turns);
}

TEST_F(EternalPatterns, OfStrongStoresAreBroken) {
  expect_end(
      "st.relaxed.gpu.u32 [%rd1], 0; st.relaxed.gpu.u32 [%rd1], 1;"
      "ld.relaxed.gpu.u32 %r3, [%rd1+4]; setp.eq.u32 %p2, %r3, 0; @%p2 bra CHANGE; ret;",
      "ld.relaxed.gpu.u32 %r2, [%rd1]; setp.ne.u32 %p2, %r2, 0; @%p2 bra WAIT;"
      "st.relaxed.gpu.u32 [%rd1+4], 1; ret;",
      {});
}

TEST(TurnOrder, VariesByTheBlockAndOnlyWhileItIsToldTo) {
  TurnOrder order;
  order.start({Kind::fixed, 64, 0}, 3, 8);
  const auto next = [&] {
    std::vector<std::uint32_t> all;
    for (int i = 0; i < 20; ++i) all.push_back(order.instructions());
    return all;
  };
  const std::vector<std::uint32_t> fixed(20, 64);
  EXPECT_EQ(next(), fixed);
  order.vary(3, 8);
  const auto varied = next();
  EXPECT_NE(varied, fixed);
  order.vary_no_more();
  EXPECT_EQ(next(), fixed);
  order.vary(3, 8);
  EXPECT_EQ(next(), varied);
  order.vary_no_more();
  order.vary(4, 8);
  EXPECT_NE(next(), varied);
}

TEST(StartOrder, ChangesPlacesAmongThoseThatHaveRoom) {
  constexpr std::uint64_t total = 1000, resident = 132;
  const Turns random{Kind::random, 0, 7};
  std::set<std::uint64_t> seen;
  bool moved = false;
  for (std::uint64_t n = 0; n < total; ++n) {
    const std::uint64_t at = start_order(random, n, total, resident);
    EXPECT_EQ(at / resident, n / resident);
    moved |= at != n;
    seen.insert(at);
    EXPECT_EQ(start_order({}, n, total, resident), n);
  }
  EXPECT_EQ(seen.size(), total);
  EXPECT_TRUE(moved);
}

constexpr std::uint32_t khz = 2000000;

// The number of rounds of 100 cycles until `cycles` have passed.
unsigned rounds_until(std::uint64_t cycles, std::uint8_t polls, Clock clock = {}) {
  host::AwakeTime awake;
  clock.start(first_cycle);
  unsigned rounds = 0;
  while (clock.now() - first_cycle < cycles && rounds < 100000) {
    clock.pass(100);
    clock.waited(polls, khz, awake);
    ++rounds;
  }
  return rounds;
}

TEST(Clock, JumpsWhereWarpsOnlyLookAtIt) {
  EXPECT_EQ(rounds_until(500, Polls::time), 5u);
  EXPECT_LT(rounds_until(2000000000, Polls::time), 400u);
}

TEST(Clock, OvershootsAWaitByASixteenthAtMost) {
  Clock clock;
  host::AwakeTime awake;
  clock.start(0);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t before = clock.now();
    clock.pass(100);
    clock.waited(Polls::time, khz, awake);
    EXPECT_GT(clock.now(), before);
    EXPECT_LE(clock.now() - before, before / 16 + 200);
  }
}

TEST(Clock, FollowsTheHostWhereWarpsLookAtMemoryToo) {
  Clock clock;
  host::AwakeTime awake;
  const auto wait = [&] { clock.waited(Polls::time | Polls::memory, khz, awake); };
  clock.start(0);
  for (int i = 0; i < 1000; ++i) wait();
  EXPECT_LT(nanoseconds(clock.now(), khz), 1000000000u);  // as long as the loop took
  EXPECT_TRUE(clock.waits_for_others());
  const std::uint64_t before = nanoseconds(clock.now(), khz);
  for (int i = 0; i < 50; ++i, wait()) std::this_thread::sleep_for(std::chrono::microseconds(400));
  EXPECT_GE(nanoseconds(clock.now(), khz) - before, 20000000u - 10);
  clock.worked();
  EXPECT_FALSE(clock.waits_for_others());
}

TEST(Clock, LeavesOutPausesOfTheHost) {
  Clock clock;
  host::AwakeTime awake;
  const auto wait = [&] { clock.waited(Polls::time | Polls::memory, khz, awake); };
  clock.start(0);
  for (int i = 0; i < 20; ++i) wait();
  const std::uint64_t before = nanoseconds(clock.now(), khz);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  wait();
  EXPECT_LE(nanoseconds(clock.now(), khz) - before,
            std::chrono::nanoseconds(host::AwakeTime::longest).count() + 10u);
}

TEST(Clock, DoesNotJumpPastASleeper) {
  Clock clock;
  host::AwakeTime awake;
  clock.start(0);
  const auto wait = [&] {
    clock.pass(100);
    clock.waited(Polls::time, khz, awake);
  };
  while (clock.now() < 100000) wait();
  const std::uint64_t wake = clock.now() + 150;
  clock.sleep_until(wake);
  EXPECT_FALSE(clock.due());
  wait();
  EXPECT_EQ(clock.now(), wake);
  EXPECT_TRUE(clock.due());
}

TEST(Clock, CountsNanosecondsWithoutOverflow) {
  EXPECT_EQ(nanoseconds(1980000, 1980000), 1000000u);
  EXPECT_EQ(cycles(1000000, 1980000), 1980000u);
  EXPECT_EQ(nanoseconds(1ull << 62, 2000000), 1ull << 61);
}

}  // namespace
}  // namespace inflight::machine
