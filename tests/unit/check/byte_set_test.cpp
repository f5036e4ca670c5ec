// ByteSet and Bits hold the same bytes as a plain set after random inserts and removals of ranges.
#include "gpu/check/shadow/byte_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "gpu/check/shadow/bits.hpp"

namespace inflight::shadow {
namespace {

TEST(ByteSet, HoldsWhatAPlainSetHolds) {
  constexpr std::uint64_t origin = 0x7f0000000000, size = 5 * 32768 + 1000;
  ByteSet set;
  std::vector<bool> plain(size);
  std::mt19937 random(1);
  EXPECT_TRUE(set.never_used());
  for (int step = 0; step < 20000; ++step) {
    const std::uint64_t from = random() % size;
    const std::uint64_t longest = random() % 50 == 0 ? size : 200;
    const std::uint64_t bytes = std::min<std::uint64_t>(random() % longest, size - from);
    if (step % 3 == 2) {
      std::uint64_t expected = 0;
      for (std::uint64_t i = 0; i < bytes; ++i) expected += plain[from + i];
      ASSERT_EQ(set.count(origin + from, bytes), expected);
      ASSERT_EQ(set.has_any(origin + from, bytes), expected != 0);
      ASSERT_EQ(set.has_all(origin + from, bytes), expected == bytes);
      continue;
    }
    const bool in = step % 3 == 0;
    in ? set.insert(origin + from, bytes) : set.erase(origin + from, bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) plain[from + i] = in;
  }
  EXPECT_FALSE(set.never_used());
}

TEST(ByteSet, MovesWhatAnotherHolds) {
  constexpr std::uint64_t source = 0x7f0000000000, target = 0x600000000000, size = 4 * 32768 + 77;
  std::mt19937 random(2);
  for (int step = 0; step < 200; ++step) {
    ByteSet from, to;
    std::vector<bool> plain(size);
    for (int run = 0; run < 40; ++run) {
      const std::uint64_t at = random() % size;
      const std::uint64_t bytes =
          std::min<std::uint64_t>(random() % (run % 8 == 0 ? size : 150), size - at);
      const bool in = random() % 3 != 0;
      in ? from.insert(source + at, bytes) : from.erase(source + at, bytes);
      for (std::uint64_t i = 0; i < bytes; ++i) plain[at + i] = in;
    }
    const std::uint64_t at = random() % size, bytes = random() % (size - at);
    const std::uint64_t place = target + random() % 1000;
    to.insert_moved(from, source + at, place, bytes);
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) {
      expected += plain[at + i];
      ASSERT_EQ(to.has_any(place + i, 1), plain[at + i]);
    }
    ASSERT_EQ(to.count(target - 1000, 2 * size), expected);
  }
}

// Elements of 4 bytes, adjacent or 64 bytes apart, around an end of a page and the set's bytes.
TEST(ByteSet, HasNoneNearOnlyWhereNoLaneHasAByte) {
  constexpr std::uint64_t page = 1u << 15;
  ByteSet set;
  set.insert(5 * page + 300, 8);
  set.insert(7 * page, page);
  for (const std::uint64_t step : {4u, 64u})
    for (std::uint64_t base = 4 * page - 4096; base < 9 * page; base += 36) {
      std::uint64_t addresses[32];
      bool any = false;
      for (std::uint64_t l = 0; l < 32; ++l) {
        addresses[l] = base + (l * 5 % 32) * step;
        any |= set.has_any(addresses[l], 4);
      }
      const bool none = set.has_none_near(addresses, ~0u, 4);
      EXPECT_FALSE(none && any) << base << " " << step;
      EXPECT_TRUE(none || set.has_any(base, 32 * step)) << base << " " << step;
    }
}

TEST(ByteSet, MovesNothingToASetThatWasNeverUsed) {
  ByteSet from, to;
  from.insert(1000, 10);
  to.insert_moved(from, 2000, 5000, 1000);
  to.insert_moved(from, 1000, 5000, 0);
  EXPECT_TRUE(to.never_used());
}

TEST(ByteSet, TakesLargeRangesAtOnce) {
  ByteSet set;
  set.insert(1ull << 40, 80ull << 30);
  EXPECT_TRUE(set.has_all(1ull << 40, 80ull << 30));
  set.erase((1ull << 40) + 12345, 1);
  EXPECT_EQ(set.count(1ull << 40, 80ull << 30), (80ull << 30) - 1);
  set.erase(1ull << 40, 80ull << 30);
  EXPECT_FALSE(set.has_any(1ull << 40, 80ull << 30));
}

// Ranges may go over the end. A set is asked, and bytes are removed, before any is inserted.
TEST(Bits, HoldWhatAPlainSetHolds) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t size = random() % 500 / 64 * 64;
    Bits set(size - std::min<std::uint64_t>(size, random() % 64));
    ASSERT_EQ(set.size(), size);
    std::vector<bool> plain(size);
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t from = random() % (size + 10), bytes = random() % 150;
      const std::uint64_t end = std::min(from + bytes, size);
      std::uint64_t held = 0;
      for (std::uint64_t i = from; i < end; ++i) held += plain[i];
      ASSERT_EQ(set.count(from, bytes), held);
      ASSERT_EQ(set.has_any(from, bytes), held != 0);
      ASSERT_EQ(set.has_all(from, bytes), held == bytes && from + bytes <= size);
      const std::uint32_t change = step < 5 ? random() % 2 : random() % 3;
      if (change == 1) set.erase(from, bytes);
      if (change == 2) set.insert(from, bytes);
      for (std::uint64_t i = from; change != 0 && i < end; ++i) plain[i] = change == 2;
      ASSERT_EQ(set.count(), static_cast<std::uint64_t>(std::ranges::count(plain, true)));
      ASSERT_EQ(set.empty(), set.count() == 0);
    }
  }
}

}  // namespace
}  // namespace inflight::shadow
