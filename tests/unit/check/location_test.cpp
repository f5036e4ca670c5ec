// Location::oldest: which write a read counts as having read, if it only compares the value.
#include <gtest/gtest.h>

#include <set>

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

}  // namespace
}  // namespace inflight::order
