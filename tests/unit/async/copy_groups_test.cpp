// Copy groups: scripted cases.
#include "gpu/async/copy_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/unit/async/block_memory.hpp"

namespace inflight::async {
namespace {

TEST(CopyGroups, EarlyMovesAtIssue) {
  Memory m;
  Team team(early);
  EXPECT_TRUE(team.issue(m.issue(all, 16, 0)).moved);
  EXPECT_TRUE(m.moved(0, 512));
  EXPECT_TRUE(team.idle());
}

TEST(CopyGroups, LateMovesAtTheWaitThatNeedsIt) {
  Memory m;
  Team team(late);
  for (std::uint32_t stage = 0; stage < 3; ++stage) {
    team.issue(m.issue(all, 16, stage * 512));
    team.commit(all);
  }
  EXPECT_TRUE(m.untouched(0, 3 * 512));
  EXPECT_EQ(team.groups_in_flight(0), 3u);
  EXPECT_FALSE(team.wait_group(all, 3).moved);
  EXPECT_TRUE(team.wait_group(all, 1).moved);
  EXPECT_TRUE(m.moved(0, 2 * 512));
  EXPECT_TRUE(m.untouched(2 * 512, 512));
  EXPECT_EQ(team.groups_in_flight(7), 1u);
  team.wait_group(all, 0);
  EXPECT_TRUE(m.moved(2 * 512, 512));
  EXPECT_TRUE(team.idle());
}

TEST(CopyGroups, WaitGroupLeavesUncommittedCopiesAndWaitAllDoesNot) {
  Memory m;
  Team team(late);
  team.issue(m.issue(all, 4, 0));
  team.wait_group(all, 0);
  EXPECT_TRUE(m.untouched(0, 128));
  team.wait_all(all);
  EXPECT_TRUE(m.moved(0, 128));
}

// --- sources that change under a copy in flight ---

TEST(CopyGroups, AWatchedSourceThatChangesIsNoticedWhenItsBytesMove) {
  for (Timing timing : {late, shuffled(1)}) {
    Memory m;
    Team team(timing);
    Issue issue = m.issue(all, 16, 0);
    issue.watch = true, issue.tag = 42;
    ASSERT_EQ(team.issue(issue).violation, Violation::none);
    m.global[5 * 16 + 15] ^= std::byte{1};
    const Progress p = team.wait_all(all);
    if (timing == shuffled(1) && p.violation == Violation::none) continue;  // they moved before
    EXPECT_EQ(p.violation, Violation::source_modified);
    EXPECT_EQ(p.thread, 5u);
    EXPECT_EQ(p.tag, 42u);
    EXPECT_TRUE(m.moved(0, 512));
  }
}

TEST(CopyGroups, ASourceThatIsNotWatchedOrHasBeenReadMayChange) {
  Memory m;
  Team team(late);
  Issue issue = m.issue(all, 16, 0);
  team.issue(issue);
  m.global[0] ^= std::byte{1};
  EXPECT_EQ(team.wait_all(all).violation, Violation::none);
  issue.watch = true;
  team.issue(issue);
  EXPECT_EQ(team.wait_all(all).violation, Violation::none);
  m.global[0] ^= std::byte{1};
  EXPECT_EQ(team.wait_all(all).violation, Violation::none);
  Team eager(early);
  eager.issue(issue);
  m.global[0] ^= std::byte{1};
  EXPECT_EQ(eager.wait_all(all).violation, Violation::none);
}

TEST(CopyGroups, BytesThatACopyDoesNotReadMayChange) {
  Memory m;
  Team team(late);
  std::uint32_t sizes[team_size];
  std::fill_n(sizes, team_size, 6);
  Issue issue = m.issue(all, 16, 0);
  issue.watch = true, issue.src_bytes = sizes;
  team.issue(issue);
  m.global[6] ^= std::byte{1};
  EXPECT_EQ(team.wait_all(all).violation, Violation::none);
  team.issue(issue);
  m.global[5] ^= std::byte{1};
  EXPECT_EQ(team.wait_all(all).violation, Violation::source_modified);
}

TEST(CopyGroups, WatchingCanBeginAfterTheIssue) {
  Memory m;
  Team team(late);
  team.issue(m.issue(all, 16, 0));
  team.issue(m.issue(all, 16, 512));
  const auto base = reinterpret_cast<std::uintptr_t>(m.global);
  team.watch(base + 520, base + 530);
  m.global[0] ^= std::byte{1};
  EXPECT_EQ(team.wait_group(0, 0).violation, Violation::none);
  m.global[527] ^= std::byte{1};
  const Progress p = team.wait_all(all);
  EXPECT_EQ(p.violation, Violation::source_modified);
  EXPECT_EQ(p.thread, 0u);
}

TEST(CopyGroups, EmptyGroupsCount) {
  Memory m;
  Team team(late);
  team.issue(m.issue(all, 8, 0));
  team.commit(all);
  team.commit(all);
  team.commit(all);
  team.wait_group(all, 3);
  EXPECT_TRUE(m.untouched(0, 256));
  team.wait_group(all, 2);
  EXPECT_TRUE(m.moved(0, 256));
}

TEST(CopyGroups, AThreadWaitsForItsOwnGroupsOnly) {
  Memory m;
  Team team(late);
  team.issue(m.issue(all, 16, 0));
  team.commit(all);
  team.wait_group(0x1, 0);
  EXPECT_TRUE(m.moved(0, 16));
  EXPECT_TRUE(m.untouched(16, 496));
  EXPECT_EQ(team.threads_in_flight(), ~1u);
  team.commit(0x2);  // thread 1 has one more (empty) group than the others
  team.wait_group(0x6, 1);
  EXPECT_TRUE(m.moved(16, 16));
  EXPECT_TRUE(m.untouched(32, 480));
}

TEST(CopyGroups, TheRestIsFilledWithZeros) {
  for (Timing timing : {early, late, shuffled(3)}) {
    Memory m;
    Team team(timing);
    std::uint32_t src_bytes[team_size];
    for (std::uint32_t t = 0; t < team_size; ++t) src_bytes[t] = t % 17;
    Issue issue = m.issue(all, 16, 0);
    issue.src_bytes = src_bytes;
    m.src[0] = 0;  // ignored: not even looked at
    team.issue(issue);
    team.wait_all(all);
    for (std::uint32_t t = 0; t < team_size; ++t) {
      EXPECT_TRUE(m.moved(t * 16, src_bytes[t]));
      EXPECT_TRUE(m.zero(t * 16 + src_bytes[t], 16 - src_bytes[t]));
    }
  }
}

TEST(CopyGroups, BaseAndAddressMakeTheHostAddress) {
  Memory m;
  Team team(late);
  Issue issue = m.issue(0x10, 4, 256);
  issue.src_base = m.global;
  for (std::uint64_t& src : m.src) src -= reinterpret_cast<std::uintptr_t>(m.global);
  team.issue(issue);
  team.flush_all();
  EXPECT_TRUE(m.moved(256 + 16, 4));
  EXPECT_TRUE(m.untouched(256, 16));
  EXPECT_TRUE(m.untouched(256 + 20, 64));
}

TEST(CopyGroups, SizesOutOfRangeAreRefused) {
  Memory m;
  Team team(late);
  EXPECT_EQ(team.issue(m.issue(0x8, 12, 0)).violation, Violation::copy_size);
  std::uint32_t src_bytes[team_size] = {};
  src_bytes[5] = 9;
  Issue issue = m.issue(all, 8, 0);
  issue.src_bytes = src_bytes;
  const Progress refused = team.issue(issue);
  EXPECT_EQ(refused.violation, Violation::source_size);
  EXPECT_EQ(refused.thread, 5u);
  EXPECT_TRUE(team.idle());
}

TEST(CopyGroups, ReportsWhatIsInFlightOldestFirst) {
  Memory m;
  Team team(late);
  for (std::uint32_t i = 0; i < 3; ++i) {
    Issue issue = m.issue(all, 4, i * 128);
    issue.tag = 100 + i;
    team.issue(issue);
    team.commit(all);
  }
  team.wait_group(0xffff, 2);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> seen;
  team.for_each_in_flight(
      [&](const Copy& c, std::uint32_t mask) { seen.emplace_back(c.tag, mask); });
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> expected = {
      {100, 0xffff0000}, {101, all}, {102, all}};
  EXPECT_EQ(seen, expected);
}

TEST(CopyGroups, TeamsThatNeverWaitStayBounded) {
  Memory m;
  Team team(late);
  for (std::uint32_t i = 0; i < 20000; ++i) {
    team.issue(m.issue(all, 4, i % 256 * 128));
    if (i % 3 == 0) team.commit(all);
  }
  std::size_t records = 0;
  team.for_each_in_flight([&](const Copy&, std::uint32_t) { ++records; });
  EXPECT_LE(records, 4096u);
  EXPECT_GE(records, 1024u);
  team.flush_all();
  EXPECT_TRUE(m.moved(0, 256 * 128));
}

TEST(CopyGroups, ResetForgets) {
  Memory m;
  Team team(late);
  team.issue(m.issue(all, 4, 0));
  team.reset(late, 1);
  EXPECT_TRUE(team.idle());
  team.wait_all(all);
  EXPECT_TRUE(m.untouched(0, 128));
}

// --- arrivals -------------------------------------------------------------------------------

ArriveIssue arrival(Memory& m, std::uint32_t mask, bool noinc, std::uint32_t address = bar) {
  static std::uint32_t addresses[team_size];
  std::fill(addresses, addresses + team_size, address);
  return {.mask = mask, .mbarrier = addresses, .base = m.shared, .noinc = noinc};
}

TEST(CopyArrivals, AThreadWithoutCopiesArrivesAtOnce) {
  Memory m;
  Team team(late);
  mbarrier::init(m.word(bar), 32);
  EXPECT_TRUE(team.arrive(arrival(m, all, true)).phase_completed);
  EXPECT_TRUE(team.idle());
}

TEST(CopyArrivals, ComesWithTheCopiesBeforeIt) {
  Memory m;
  Team team(late);
  mbarrier::init(m.word(bar), 32);
  team.issue(m.issue(all, 16, 0));
  EXPECT_FALSE(team.arrive(arrival(m, all, true)).phase_completed);
  team.issue(m.issue(all, 16, 512));
  EXPECT_TRUE(team.arrivals_pending());
  EXPECT_TRUE(m.untouched(0, 1024));
  EXPECT_TRUE(team.flush_for(&m.word(bar)).phase_completed);
  EXPECT_TRUE(m.moved(0, 512));
  EXPECT_TRUE(m.untouched(512, 512)) << "copies after the arrival are not needed";
  EXPECT_FALSE(team.arrivals_pending());
}

TEST(CopyArrivals, AWaitForTheCopiesBringsThemToo) {
  Memory m;
  Team team(late);
  mbarrier::init(m.word(bar), 32);
  team.issue(m.issue(all, 16, 0));
  team.arrive(arrival(m, all, true));
  EXPECT_TRUE(team.wait_all(all).phase_completed);
}

TEST(CopyArrivals, WithoutNoincTheCountIsTheSameBeforeAndAfter) {
  Memory m;
  Team team(late);
  mbarrier::init(m.word(bar), 32);
  team.issue(m.issue(all, 16, 0));
  team.arrive(arrival(m, all, false));
  EXPECT_EQ(mbarrier::decode(m.word(bar)).pending, 64u);
  EXPECT_FALSE(mbarrier::arrive(m.word(bar), 32).completed);
  EXPECT_TRUE(team.flush_for(&m.word(bar)).phase_completed);
  EXPECT_EQ(mbarrier::decode(m.word(bar)).pending, 32u);
}

TEST(CopyArrivals, FlushStopsWhenThePhaseIsOver) {
  Memory m;
  Team team(late);
  mbarrier::init(m.word(bar), 32);
  for (std::uint32_t stage = 0; stage < 2; ++stage) {
    team.issue(m.issue(all, 16, stage * 512));
    team.arrive(arrival(m, all, true));
  }
  team.flush_for(&m.word(bar));
  EXPECT_TRUE(m.moved(0, 512));
  EXPECT_TRUE(m.untouched(512, 512));
  EXPECT_EQ(mbarrier::decode(m.word(bar)).parity, 1u);
  team.flush_for(&m.word(bar));
  EXPECT_TRUE(m.moved(512, 512));
  EXPECT_EQ(mbarrier::decode(m.word(bar)).parity, 0u);
}

TEST(CopyArrivals, OtherMbarriersAreLeftAlone) {
  Memory m;
  Team team(late);
  mbarrier::init(m.word(bar), 32);
  mbarrier::init(m.word(bar + 8), 32);
  team.issue(m.issue(all, 16, 0));
  team.arrive(arrival(m, all, true));
  EXPECT_FALSE(team.flush_for(&m.word(bar + 8)).moved);
  EXPECT_TRUE(m.untouched(0, 512));
}

TEST(CopyArrivals, MisuseIsReportedWithThreadAndPlace) {
  Memory m;
  Team team(late);
  m.word(bar) = 0;
  const Progress unborn = team.arrive(arrival(m, 0xf0, false));
  EXPECT_EQ(unborn.violation, Violation::not_initialised);
  EXPECT_EQ(unborn.thread, 4u);
  EXPECT_EQ(unborn.mbarrier, bar);
  EXPECT_TRUE(team.idle());
  mbarrier::init(m.word(bar), 1);
  mbarrier::expect_tx(m.word(bar), 16);  // holds the phase open
  EXPECT_EQ(team.arrive(arrival(m, 0x3, true)).violation, Violation::too_many_arrivals);
}

}  // namespace
}  // namespace inflight::async
