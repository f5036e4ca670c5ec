// Vector clocks: joins compared with a plain map, and the size of clocks.
#include "gpu/check/order/clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace inflight::order {
namespace {

// A clock over few rows, kept in both forms.
struct Both {
  Clock clock;
  std::map<std::pair<Row, unsigned>, Epoch> plain;
};

std::vector<Row> some_rows() {
  std::vector<Row> rows;
  for (const std::uint64_t launch : {1u, 2u, 3u, launch_limit - 1})
    for (const std::uint64_t block : {0ull, 1ull, 7ull, 0xffffffffull})
      for (const std::uint32_t warp : {0u, 1u, 31u})
        for (const Part part : {Part::thread, Part::bulk_write})
          rows.push_back(warp_row(block_row(launch, block), part, warp));
  return rows;
}

TEST(Clock, JoinsAsAMapDoes) {
  const std::vector<Row> rows = some_rows();
  const unsigned some_lanes[] = {0, 5, 31};
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return random() % n; };
  for (int round = 0; round < 300; ++round) {
    std::vector<Both> all(4);
    for (int step = 0; step < 60; ++step) {
      Both& b = all[below(4)];
      const Row row = rows[below(static_cast<std::uint32_t>(rows.size()))];
      const Epoch epoch = below(9);
      switch (below(4)) {
        case 0: {
          const Mask mask = below(4) ? 1u << some_lanes[below(3)] : ~Mask{0};
          b.clock.raise(row, mask, epoch);
          for (const unsigned l : some_lanes)
            if (mask >> l & 1) b.plain[{row, l}] = std::max(b.plain[{row, l}], epoch);
          break;
        }
        case 1: {
          const unsigned bits[] = {1, warp_bits, row_bits, launch_shift};
          const unsigned width = bits[below(4)];
          b.clock.raise_range(row >> width << width, width, epoch);
          for (const Row r : rows)
            if (r >> width == row >> width)
              for (const unsigned l : some_lanes)
                b.plain[{r, l}] = std::max(b.plain[{r, l}], epoch);
          break;
        }
        default: {
          const Both other = all[below(4)];
          b.clock.join(other.clock);
          for (const auto& [key, e] : other.plain) b.plain[key] = std::max(b.plain[key], e);
          // A second join returns the same object.
          Clock again = b.clock;
          again.join(other.clock);
          EXPECT_TRUE(again.same(b.clock));
        }
      }
    }
    for (const Both& a : all)
      for (const Both& b : all) {
        Clock both = a.clock;
        both.join(b.clock);
        if (!a.clock.includes(b.clock)) {
          ASSERT_FALSE(both.same(a.clock));
        } else {
          for (const auto& [key, e] : b.plain) ASSERT_GE(a.clock.at(key.first, key.second), e);
        }
      }
    for (const Both& b : all)
      for (const Row row : rows)
        for (const unsigned l : some_lanes) {
          const auto at = b.plain.find({row, l});
          const Epoch epoch = at == b.plain.end() ? 0 : at->second;
          ASSERT_EQ(b.clock.at(row, l), epoch);
          ASSERT_TRUE(epoch == 0 || b.clock.covers(row, 1u << l, epoch));
          ASSERT_FALSE(b.clock.covers(row, 1u << l, epoch + 1));
        }
  }
}

TEST(Clock, RaisedAtOnceIsAsRaisedOneByOne) {
  const std::vector<Row> rows = some_rows();
  std::mt19937 random(11);
  const auto below = [&](std::uint32_t n) { return random() % n; };
  for (int round = 0; round < 300; ++round) {
    Raises raises;
    Clock before;
    for (std::uint32_t left = below(20); left > 0; --left) {
      const Row row = rows[below(static_cast<std::uint32_t>(rows.size()))];
      if (below(3))
        before.raise(row, static_cast<Mask>(random()), below(9));
      else
        before.raise_range(row >> warp_bits << warp_bits, warp_bits, below(6));
    }
    Clock expected = before;
    for (std::uint32_t left = below(40); left > 0; --left) {
      const Row row = rows[below(static_cast<std::uint32_t>(rows.size()))];
      const Mask mask = below(3) ? static_cast<Mask>(random()) : ~Mask{0};
      const Epoch epoch = below(9);
      raises.raise(row, mask, epoch);
      expected.raise(row, mask, epoch);
    }
    Clock clock = before;
    clock.raise(raises);
    for (const Row row : rows) {
      for (unsigned l = 0; l < lanes; ++l) ASSERT_EQ(clock.at(row, l), expected.at(row, l));
      ASSERT_EQ(clock.floor(row >> warp_bits << warp_bits, warp_bits),
                expected.floor(row >> warp_bits << warp_bits, warp_bits));
    }
    Clock again = clock;
    again.raise(raises);
    EXPECT_TRUE(again.same(clock));
    EXPECT_TRUE(clock.includes(expected));
    EXPECT_TRUE(expected.includes(clock));
  }
}

TEST(Clock, RaisedAgainLeavesItsCopiesAsTheyWere) {
  const Row block = block_row(3, 7), lane = warp_row(block, Part::thread, 2);
  Clock clock;
  clock.raise_range(block_row(2, 0), launch_shift, always);
  clock.raise(lane, 0xff, 9);
  std::vector<Clock> before;
  for (Epoch epoch = 1; epoch < 12; ++epoch) {
    if (epoch % 3 == 0) before.push_back(clock);
    clock.raise_range(block, warp_bits, epoch);
    EXPECT_EQ(clock.floor(block, warp_bits), epoch);
    EXPECT_EQ(clock.at(lane, 0), std::max<Epoch>(epoch, 9));
    EXPECT_EQ(clock.at(lane, 31), epoch);
  }
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(before[i].floor(block, warp_bits), 3 * i + 2);
}

TEST(Clock, IsOneNodeForAnyNumberOfEndedLaunches) {
  Clock c;
  for (std::uint64_t launch = 0; launch < 4096; ++launch)
    c.raise_range(block_row(launch, 0), launch_shift, always);
  EXPECT_EQ(c.nodes(), 1u);
}

TEST(Clock, HasTwoNodesForEachBlockThatItKnows) {
  // Like a counter that every block of a grid increments: each adds its block and shares the rest.
  Clock counter;
  for (std::uint64_t block = 0; block < 100000; ++block)
    counter.raise(warp_row(block_row(1, block), Part::thread, 0), 1, 5);
  EXPECT_LE(counter.nodes(), 200000u);
  EXPECT_EQ(counter.at(warp_row(block_row(1, 77777), Part::thread, 0), 0), 5u);
}

}  // namespace
}  // namespace inflight::order
