// Compares the clocks and the shadow with brute force on thousands of random small histories.
#include <gtest/gtest.h>

#include "tests/unit/check/order_history.hpp"

namespace inflight::order {
namespace {

constexpr shadow::Limits everything{1000, 1000};

TEST(OrderHistories, SayWhatBruteForceSays) {
  int races = 0, accesses = 0;
  const auto check = [&](std::uint64_t seed, int steps) {
    const History::Outcome o = History(seed, everything).play(steps);
    EXPECT_EQ(o.failure, "") << "seed " << seed;
    EXPECT_EQ(o.missed, 0) << "seed " << seed;
    EXPECT_EQ(o.forgotten, 0u) << "seed " << seed;
    races += o.races;
    accesses += o.accesses;
  };
  for (std::uint64_t seed = 0; seed < 12000 && !HasFailure(); ++seed)
    check(seed, 10 + static_cast<int>(seed % 40));
  // Both kinds must occur often, or the test proves nothing.
  EXPECT_GT(races, accesses / 10);
  EXPECT_LT(races, accesses * 8 / 10);
}

TEST(OrderHistories, BoundedShadowRaisesNoFalseAlarm) {
  int missed = 0, races = 0;
  for (std::uint64_t seed = 0; seed < 4000 && !HasFailure(); ++seed) {
    const History::Outcome o = History(seed, {2, 2}).play(40);
    EXPECT_EQ(o.failure, "") << "seed " << seed;
    if (o.forgotten == 0) {
      EXPECT_EQ(o.missed, 0) << "seed " << seed;
    }
    missed += o.missed;
    races += o.races;
  }
  EXPECT_LT(missed * 50, races);
}

}  // namespace
}  // namespace inflight::order
