// The values of --async.
#include "gpu/async/timing.hpp"

#include <gtest/gtest.h>

namespace inflight::async {
namespace {

TEST(Timing, ReadsEveryPolicy) {
  EXPECT_EQ(parse_timing("early"), early);
  EXPECT_EQ(parse_timing("late"), late);
  EXPECT_EQ(parse_timing("shuffled:42"), shuffled(42));
  EXPECT_EQ(parse_timing("shuffled:18446744073709551615"), shuffled(~std::uint64_t{0}));
}

TEST(Timing, RefusesAnythingElse) {
  for (const char* text :
       {"", "shuffled", "Early", "lat", "late ", "shuffled:", "shuffled:x", "shuffled:1x",
        "shuffled:-1", "shuffled:18446744073709551616", "shuffledx", "late:1"})
    EXPECT_FALSE(parse_timing(text)) << text;
}

TEST(Timing, RandomStaysBelowItsBoundAndReachesEveryValue) {
  Random random(1);
  std::uint32_t seen = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t value = random.below(7);
    ASSERT_LT(value, 7u);
    seen |= 1u << value;
  }
  EXPECT_EQ(seen, 0x7fu);
}

}  // namespace
}  // namespace inflight::async
