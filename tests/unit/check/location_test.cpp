// Location: which write a read counts as having read, if it only compares the value, and what it
// acquires from an earlier one.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "gpu/check/order/release.hpp"

namespace inflight::order {
namespace {

class Oldest : public testing::Test {
 protected:
  // A write of a word, which held `before`.
  void write(std::uint64_t before, std::uint64_t value, bool noted = true,
             std::uint32_t bytes = 4) {
    const std::uint64_t number = at.write({}, Scope::gpu, {}, false);
    if (noted) at.note(before, value, bytes, 0, 1, static_cast<Epoch>(number));
  }
  // A read of `value` that only asks whether it is `least` or more.
  std::uint64_t of(std::uint64_t value, std::uint64_t least, std::uint32_t bytes = 4) const {
    return at.oldest(
        value, bytes, [&](const Location::Step& s) { return known.contains(s.number); },
        [&](std::uint64_t other) { return (other >= least) == (value >= least); });
  }
  Location at;
  std::set<std::uint64_t> known;  // the writes that the reader is ordered behind
};

TEST_F(Oldest, IsTheFirstThatDecidesTheSame) {
  for (std::uint64_t v = 0; v < 4; ++v) write(v, v + 1);
  EXPECT_EQ(of(4, 4), Location::latest);
  EXPECT_EQ(of(4, 3), 3u);
  EXPECT_EQ(of(4, 1), 1u);
}

TEST_F(Oldest, IsNotBeforeAWriteThatTheReaderKnows) {
  for (std::uint64_t v = 0; v < 4; ++v) write(v, v + 1);
  known = {1, 2};
  EXPECT_EQ(of(4, 1), 2u);
  known = {1, 2, 3, 4};
  EXPECT_EQ(of(4, 1), Location::latest);
}

TEST_F(Oldest, IsNotBeforeAValueThatDecidesOtherwise) {
  write(0, 5), write(5, 1), write(1, 6), write(6, 7);
  EXPECT_EQ(of(7, 5), 3u);
}

TEST_F(Oldest, IsTheLastIfMemoryHoldsAnotherValue) {
  write(0, 1), write(1, 2);
  EXPECT_EQ(of(3, 1), Location::latest);
  EXPECT_EQ(of(2, 1, 8), Location::latest);
}

TEST_F(Oldest, IsNotBeforeAChangeThatIsNotNoted) {
  write(0, 1), write(1, 2), write(7, 8), write(8, 9);
  EXPECT_EQ(of(9, 1), 3u) << "2 became 7 between two writes";
  write(9, 10, false), write(10, 11), write(11, 12);
  EXPECT_EQ(of(12, 1), 6u) << "a write has no note";
  write(12, 13, false);
  EXPECT_EQ(of(13, 1), Location::latest) << "the last write has no note";
}

TEST_F(Oldest, IsOneOfTheLastEightWrites) {
  for (std::uint64_t v = 0; v < 20; ++v) write(v, v + 1);
  EXPECT_EQ(of(20, 1), 13u);
}

// Writes by threads of many blocks, in chains and not. A reader that saw one of the last eight
// acquires what had been published by then, and nothing of what was published later.
TEST(Earlier, GivesWhatWasPublishedByThen) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const auto place = [](std::uint32_t block) {
    const Row row = block_row(0, block), first = row & ~((Row{2} << row_bits) - 1);
    return Place{block / 8, first, first + (Row{2} << row_bits), row};
  };
  struct Written {
    std::uint64_t number;
    std::array<Release::ByScope, 12> got;  // by the reader's block
    std::array<Knowledge, 12> loose;
  };
  for (int round = 0; round < 200; ++round) {
    Location at;
    std::vector<Written> written;
    const bool relaxed_too = below(2) != 0;
    for (std::uint32_t i = 0; i < 30; ++i) {
      const Place by = place(below(12));
      const Row row = warp_row(by.block, Part::thread, 0);
      const auto scope = static_cast<Scope>(below(scope_count));
      const Epoch epoch = i + 1;
      Snapshot knows;
      knows.known.raise(warp_row(by.block, Part::thread, 1), 1, epoch);
      std::uint64_t number = 0;
      if (relaxed_too && below(3) == 0) {
        number = at.relaxed_write(by, scope, knows, row, 1, epoch);
      } else {
        Release release;
        if (below(4) != 0) release.add(by, scope, knows.published(by.block, 0, 1, epoch));
        release.add_loose(knows.known.loose);
        number = at.write(by, scope, release, below(3) != 0);
      }
      if (below(8) == 0) continue;  // not noted
      at.note(i, i + 1, 4, row, 1, epoch);
      Written now{number, {}, {}};
      for (std::uint32_t b = 0; b < 12; ++b) {
        now.got[b] = at.last()->acquired(place(b));
        at.last()->acquire_loose(now.loose[b]);
      }
      written.push_back(now);
      for (const Written& w : written) {
        if (!at.is_noted(w.number)) continue;
        for (std::uint32_t b = 0; b < 12; ++b) {
          Release then;
          at.seen(place(b), Scope::sys, w.number, then);
          const Release::ByScope got = then.acquired(place(b));
          for (std::uint32_t s = 0; s < scope_count; ++s) {
            EXPECT_TRUE(got[s].includes(w.got[b][s]));
            EXPECT_TRUE(w.got[b][s].includes(got[s]));
          }
          Knowledge loose;
          then.acquire_loose(loose);
          EXPECT_TRUE(loose.includes(w.loose[b]) && w.loose[b].includes(loose));
        }
      }
    }
  }
}

}  // namespace
}  // namespace inflight::order
