// Copies of a warp's threads: scripted cases.
#include "gpu/async/thread_copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/unit/async/block_memory.hpp"
#include "tests/unit/async/heard_copies.hpp"

namespace inflight::async {
namespace {

TEST(ThreadCopies, EarlyMovesAtIssue) {
  Memory m;
  HeardCopies warp(early);
  EXPECT_TRUE(warp.issue(m.issue(all, 16, 0)).moved);
  EXPECT_TRUE(m.moved(0, 512));
  EXPECT_TRUE(warp.copies.idle());
}

TEST(ThreadCopies, LateMovesAtTheWaitThatNeedsIt) {
  Memory m;
  HeardCopies warp(late);
  for (std::uint32_t stage = 0; stage < 3; ++stage) {
    warp.issue(m.issue(all, 16, stage * 512));
    warp.commit(all);
  }
  EXPECT_TRUE(m.untouched(0, 3 * 512));
  EXPECT_EQ(warp.copies.groups_in_flight(0), 3u);
  EXPECT_FALSE(warp.wait_group(all, 3).moved);
  EXPECT_TRUE(warp.wait_group(all, 1).moved);
  EXPECT_TRUE(m.moved(0, 2 * 512));
  EXPECT_TRUE(m.untouched(2 * 512, 512));
  EXPECT_EQ(warp.copies.groups_in_flight(7), 1u);
  warp.wait_group(all, 0);
  EXPECT_TRUE(m.moved(2 * 512, 512));
  EXPECT_TRUE(warp.copies.idle());
}

TEST(ThreadCopies, WaitGroupLeavesUncommittedCopiesAndWaitAllDoesNot) {
  Memory m;
  HeardCopies warp(late);
  warp.issue(m.issue(all, 4, 0));
  warp.wait_group(all, 0);
  EXPECT_TRUE(m.untouched(0, 128));
  warp.wait_all(all);
  EXPECT_TRUE(m.moved(0, 128));
}

// --- sources that change under a copy in flight ---

TEST(ThreadCopies, AWatchedSourceThatChangesIsNoticedWhenItsBytesMove) {
  for (Timing timing : {late, shuffled(1)}) {
    Memory m;
    HeardCopies warp(timing);
    Issue issue = m.issue(all, 16, 0);
    issue.watch = true, issue.tag = 42;
    ASSERT_EQ(warp.issue(issue).violation, Violation::none);
    m.global[5 * 16 + 15] ^= std::byte{1};
    const Heard p = warp.wait_all(all);
    if (timing == shuffled(1) && p.violation == Violation::none) continue;  // they moved before
    EXPECT_EQ(p.violation, Violation::source_modified);
    EXPECT_EQ(p.thread, 5u);
    EXPECT_EQ(p.tag, 42u);
    EXPECT_TRUE(m.moved(0, 512));
  }
}

TEST(ThreadCopies, ASourceThatIsNotWatchedOrHasBeenReadMayChange) {
  Memory m;
  HeardCopies warp(late);
  Issue issue = m.issue(all, 16, 0);
  warp.issue(issue);
  m.global[0] ^= std::byte{1};
  EXPECT_EQ(warp.wait_all(all).violation, Violation::none);
  issue.watch = true;
  warp.issue(issue);
  EXPECT_EQ(warp.wait_all(all).violation, Violation::none);
  m.global[0] ^= std::byte{1};
  EXPECT_EQ(warp.wait_all(all).violation, Violation::none);
  HeardCopies eager(early);
  eager.issue(issue);
  m.global[0] ^= std::byte{1};
  EXPECT_EQ(eager.wait_all(all).violation, Violation::none);
}

TEST(ThreadCopies, BytesThatACopyDoesNotReadMayChange) {
  Memory m;
  HeardCopies warp(late);
  std::uint32_t sizes[warp_size];
  std::fill_n(sizes, warp_size, 6);
  Issue issue = m.issue(all, 16, 0);
  issue.watch = true, issue.src_bytes = sizes;
  warp.issue(issue);
  m.global[6] ^= std::byte{1};
  EXPECT_EQ(warp.wait_all(all).violation, Violation::none);
  warp.issue(issue);
  m.global[5] ^= std::byte{1};
  EXPECT_EQ(warp.wait_all(all).violation, Violation::source_modified);
}

TEST(ThreadCopies, WatchingCanBeginAfterTheIssue) {
  Memory m;
  HeardCopies warp(late);
  warp.issue(m.issue(all, 16, 0));
  warp.issue(m.issue(all, 16, 512));
  const auto base = reinterpret_cast<std::uintptr_t>(m.global);
  warp.copies.watch(base + 520, base + 530);
  m.global[0] ^= std::byte{1};
  EXPECT_EQ(warp.wait_group(0, 0).violation, Violation::none);
  m.global[527] ^= std::byte{1};
  const Heard p = warp.wait_all(all);
  EXPECT_EQ(p.violation, Violation::source_modified);
  EXPECT_EQ(p.thread, 0u);
}

TEST(ThreadCopies, EmptyGroupsCount) {
  Memory m;
  HeardCopies warp(late);
  warp.issue(m.issue(all, 8, 0));
  warp.commit(all);
  warp.commit(all);
  warp.commit(all);
  warp.wait_group(all, 3);
  EXPECT_TRUE(m.untouched(0, 256));
  warp.wait_group(all, 2);
  EXPECT_TRUE(m.moved(0, 256));
}

TEST(ThreadCopies, AThreadWaitsForItsOwnGroupsOnly) {
  Memory m;
  HeardCopies warp(late);
  warp.issue(m.issue(all, 16, 0));
  warp.commit(all);
  warp.wait_group(0x1, 0);
  EXPECT_TRUE(m.moved(0, 16));
  EXPECT_TRUE(m.untouched(16, 496));
  EXPECT_EQ(warp.copies.threads_in_flight(), ~1u);
  warp.commit(0x2);  // thread 1 has one more (empty) group than the others
  warp.wait_group(0x6, 1);
  EXPECT_TRUE(m.moved(16, 16));
  EXPECT_TRUE(m.untouched(32, 480));
}

TEST(ThreadCopies, TheRestIsFilledWithZeros) {
  for (Timing timing : {early, late, shuffled(3)}) {
    Memory m;
    HeardCopies warp(timing);
    std::uint32_t src_bytes[warp_size];
    for (std::uint32_t t = 0; t < warp_size; ++t) src_bytes[t] = t % 17;
    Issue issue = m.issue(all, 16, 0);
    issue.src_bytes = src_bytes;
    m.src[0] = 0;  // ignored: not even read
    warp.issue(issue);
    warp.wait_all(all);
    for (std::uint32_t t = 0; t < warp_size; ++t) {
      EXPECT_TRUE(m.moved(t * 16, src_bytes[t]));
      EXPECT_TRUE(m.zero(t * 16 + src_bytes[t], 16 - src_bytes[t]));
    }
  }
}

TEST(ThreadCopies, BaseAndAddressMakeTheHostAddress) {
  Memory m;
  HeardCopies warp(late);
  Issue issue = m.issue(0x10, 4, 256);
  issue.src_base = m.global;
  for (std::uint64_t& src : m.src) src -= reinterpret_cast<std::uintptr_t>(m.global);
  warp.issue(issue);
  warp.copies.flush_all();
  EXPECT_TRUE(m.moved(256 + 16, 4));
  EXPECT_TRUE(m.untouched(256, 16));
  EXPECT_TRUE(m.untouched(256 + 20, 64));
}

TEST(ThreadCopies, SourceSizesOutOfRangeAreReportedAndCountAsTheCopysSize) {
  Memory m;
  HeardCopies warp(late);
  std::uint32_t src_bytes[warp_size] = {};
  src_bytes[5] = src_bytes[9] = 8;
  Issue issue = m.issue(all, 8, 0);
  issue.src_bytes = src_bytes;
  issue.oversized = 1u << 5 | 1u << 9, issue.source_size = 12;
  issue.tag = 42;
  const Heard heard = warp.issue(issue);
  EXPECT_EQ(heard.violation, Violation::source_size);
  EXPECT_EQ(heard.thread, 5u);
  EXPECT_EQ(heard.tag, 42u);
  EXPECT_EQ(warp.wait_all(all).violation, Violation::none);
  EXPECT_TRUE(m.moved(5 * 8, 8));
  EXPECT_TRUE(m.zero(6 * 8, 8));
}

TEST(ThreadCopies, ReportsWhatIsInFlightOldestFirst) {
  Memory m;
  HeardCopies warp(late);
  for (std::uint32_t i = 0; i < 3; ++i) {
    Issue issue = m.issue(all, 4, i * 128);
    issue.tag = 100 + i;
    warp.issue(issue);
    warp.commit(all);
  }
  warp.wait_group(0xffff, 2);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> seen;
  warp.copies.for_each_in_flight(
      [&](const Copy& c, std::uint32_t mask) { seen.emplace_back(c.tag, mask); });
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> expected = {
      {100, 0xffff0000}, {101, all}, {102, all}};
  EXPECT_EQ(seen, expected);
}

TEST(ThreadCopies, WarpsThatNeverWaitStayBounded) {
  Memory m;
  HeardCopies warp(late);
  for (std::uint32_t i = 0; i < 20000; ++i) {
    warp.issue(m.issue(all, 4, i % 256 * 128));
    if (i % 3 == 0) warp.commit(all);
  }
  std::size_t records = 0;
  warp.copies.for_each_in_flight([&](const Copy&, std::uint32_t) { ++records; });
  EXPECT_LE(records, 4096u);
  EXPECT_GE(records, 1024u);
  warp.copies.flush_all();
  EXPECT_TRUE(m.moved(0, 256 * 128));
}

TEST(ThreadCopies, ResetForgets) {
  Memory m;
  HeardCopies warp(late);
  warp.issue(m.issue(all, 4, 0));
  warp.copies.reset(Order(late));
  EXPECT_TRUE(warp.copies.idle());
  warp.wait_all(all);
  EXPECT_TRUE(m.untouched(0, 128));
}

// --- arrivals -------------------------------------------------------------------------------

ArriveIssue arrival(Memory& m, std::uint32_t mask, bool noinc, std::uint32_t address = bar) {
  static std::uint32_t addresses[warp_size];
  std::fill(addresses, addresses + warp_size, address);
  return {.mask = mask, .mbarrier = addresses, .base = m.shared, .noinc = noinc};
}

TEST(CopyArrivals, AThreadWithoutCopiesArrivesAtOnce) {
  Memory m;
  HeardCopies warp(late);
  mbarrier::init(m.word(bar), 32);
  EXPECT_TRUE(warp.arrive(arrival(m, all, true)).phase_completed);
  EXPECT_TRUE(warp.copies.idle());
}

TEST(CopyArrivals, ComesWithTheCopiesBeforeIt) {
  Memory m;
  HeardCopies warp(late);
  mbarrier::init(m.word(bar), 32);
  warp.issue(m.issue(all, 16, 0));
  EXPECT_FALSE(warp.arrive(arrival(m, all, true)).phase_completed);
  warp.issue(m.issue(all, 16, 512));
  EXPECT_TRUE(warp.copies.arrivals_pending());
  EXPECT_TRUE(m.untouched(0, 1024));
  EXPECT_TRUE(warp.flush_for(&m.word(bar)).phase_completed);
  EXPECT_TRUE(m.moved(0, 512));
  EXPECT_TRUE(m.untouched(512, 512)) << "copies after the arrival are not needed";
  EXPECT_FALSE(warp.copies.arrivals_pending());
}

TEST(CopyArrivals, AWaitForTheCopiesBringsThemToo) {
  Memory m;
  HeardCopies warp(late);
  mbarrier::init(m.word(bar), 32);
  warp.issue(m.issue(all, 16, 0));
  warp.arrive(arrival(m, all, true));
  EXPECT_TRUE(warp.wait_all(all).phase_completed);
}

TEST(CopyArrivals, WithoutNoincTheCountIsTheSameBeforeAndAfter) {
  Memory m;
  HeardCopies warp(late);
  mbarrier::init(m.word(bar), 32);
  warp.issue(m.issue(all, 16, 0));
  warp.arrive(arrival(m, all, false));
  EXPECT_EQ(mbarrier::decode(m.word(bar)).pending, 64u);
  EXPECT_FALSE(mbarrier::arrive(m.word(bar), 32).completed);
  EXPECT_TRUE(warp.flush_for(&m.word(bar)).phase_completed);
  EXPECT_EQ(mbarrier::decode(m.word(bar)).pending, 32u);
}

TEST(CopyArrivals, FlushStopsWhenThePhaseIsOver) {
  Memory m;
  HeardCopies warp(late);
  mbarrier::init(m.word(bar), 32);
  for (std::uint32_t stage = 0; stage < 2; ++stage) {
    warp.issue(m.issue(all, 16, stage * 512));
    warp.arrive(arrival(m, all, true));
  }
  warp.flush_for(&m.word(bar));
  EXPECT_TRUE(m.moved(0, 512));
  EXPECT_TRUE(m.untouched(512, 512));
  EXPECT_EQ(mbarrier::decode(m.word(bar)).parity, 1u);
  warp.flush_for(&m.word(bar));
  EXPECT_TRUE(m.moved(512, 512));
  EXPECT_EQ(mbarrier::decode(m.word(bar)).parity, 0u);
}

TEST(CopyArrivals, OtherMbarriersAreLeftAlone) {
  Memory m;
  HeardCopies warp(late);
  mbarrier::init(m.word(bar), 32);
  mbarrier::init(m.word(bar + 8), 32);
  warp.issue(m.issue(all, 16, 0));
  warp.arrive(arrival(m, all, true));
  EXPECT_FALSE(warp.flush_for(&m.word(bar + 8)).moved);
  EXPECT_TRUE(m.untouched(0, 512));
}

TEST(CopyArrivals, MisuseIsReportedWithThreadAndPlace) {
  Memory m;
  HeardCopies warp(late);
  m.word(bar) = 0;
  const Heard unborn = warp.arrive(arrival(m, 0xf0, false));
  EXPECT_EQ(unborn.violation, Violation::not_initialised);
  EXPECT_EQ(unborn.thread, 4u);
  EXPECT_TRUE(warp.copies.idle());
  mbarrier::init(m.word(bar), 1);
  mbarrier::expect_tx(m.word(bar), 16);  // holds the phase open
  EXPECT_EQ(warp.arrive(arrival(m, 0x3, true)).violation, Violation::too_many_arrivals);
}

}  // namespace
}  // namespace inflight::async
