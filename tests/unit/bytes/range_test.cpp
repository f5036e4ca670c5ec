// Sums, ranges and boxes at the ends of the address space.
#include "gpu/bytes/range.hpp"

#include <gtest/gtest.h>

namespace inflight {
namespace {

constexpr std::uint64_t most = ~std::uint64_t{0}, half = std::uint64_t{1} << 63;

TEST(Checked, ComputesAsNumbersDo) {
  EXPECT_EQ((Checked(3) + 4).get(), 7);
  EXPECT_EQ((Checked(3) * 4).get(), 12);
  EXPECT_EQ((Checked(7) - 4).get(), 3);
  EXPECT_EQ((Checked(most - 1) + 1).get(), most);
}

TEST(Checked, RemembersAnOverflow) {
  EXPECT_FALSE((Checked(most) + 1).exact());
  EXPECT_FALSE((Checked(half) * 2).exact());
  EXPECT_FALSE((Checked(3) - 4).exact());
  EXPECT_FALSE((Checked(most) + 1 - 1).exact());
  EXPECT_FALSE((Checked(half) * 2 * 0).exact());
  EXPECT_EQ((Checked(most) + 1).value_or(5), 5);
  EXPECT_FALSE((Checked(most) + 1).within(most));
  EXPECT_EQ((Checked(most) + 1).saturated(), most);
  EXPECT_EQ((Checked(3) + 4).saturated(), 7);
}

TEST(Checked, RoundsUp) {
  EXPECT_EQ(round_up(Checked(0), 16).get(), 0);
  EXPECT_EQ(round_up(Checked(17), 16).get(), 32);
  EXPECT_EQ(round_up(Checked(most - 15), 16).get(), most - 15);
  EXPECT_FALSE(round_up(Checked(most - 14), 16).exact());
}

TEST(ByteRange, EndsAtTheLastAddressOrIsNone) {
  EXPECT_EQ(ByteRange::of(most - 8, 8)->end(), most);
  EXPECT_FALSE(ByteRange::of(most - 8, 9));
  EXPECT_FALSE(ByteRange::of(0x1000, half * Checked(2)));
  EXPECT_FALSE(ByteRange::between(2, 1));
}

TEST(ByteRange, ContainsAndOverlaps) {
  const ByteRange range = *ByteRange::of(100, 10);
  EXPECT_TRUE(range.contains(109));
  EXPECT_FALSE(range.contains(110));
  EXPECT_TRUE(range.contains(*ByteRange::of(100, 10)));
  EXPECT_FALSE(range.contains(*ByteRange::of(101, 10)));
  EXPECT_TRUE(range.overlaps(*ByteRange::of(109, 1)));
  EXPECT_FALSE(range.overlaps(*ByteRange::of(110, 1)));
  EXPECT_EQ(range.from(104), 6);
  EXPECT_EQ(range.from(110), 0);
}

TEST(ByteBox, SpansFromTheFirstByteToTheLast) {
  const ByteBox box{.bytes = 10, .rows = 3, .slices = 2, .pitch = 16, .slice_pitch = 64};
  EXPECT_EQ(box.span().get(), 64 + 32 + 10);
  EXPECT_EQ(box.total().get(), 60);
}

TEST(ByteBox, KnowsWhereRowsBegin) {
  const ByteBox box{.bytes = 10, .rows = 3, .slices = 2, .pitch = 16, .slice_pitch = 64};
  EXPECT_EQ(box.offset(0, 0), 0);
  EXPECT_EQ(box.offset(1, 2), 64 + 32);
  EXPECT_EQ((ByteBox{.bytes = 10, .slice_pitch = Checked(most) * 2}.offset(0, 0)), 0);
}

TEST(ByteBox, WithoutASecondRowHasNoPitch) {
  EXPECT_EQ((ByteBox{.bytes = 10, .pitch = most, .slice_pitch = Checked(most) * 2}.span().get()),
            10);
  EXPECT_EQ((ByteBox{.bytes = 0, .rows = most, .pitch = most}.span().get()), 0);
}

// A slice that goes back by as much as a row goes forward once passed a check of the sum.
TEST(ByteBox, ThatWrapsIsNone) {
  const std::uint64_t pitch = 4096, back = 0 - pitch;
  EXPECT_FALSE(
      (ByteBox{.bytes = 16, .rows = 2, .slices = 2, .pitch = pitch, .slice_pitch = back}.at(
          0x7f0000000000)));
  EXPECT_FALSE((ByteBox{.bytes = 16, .rows = 3, .pitch = half}.at(0)));
  EXPECT_FALSE((ByteBox{.bytes = 16, .rows = half, .slices = 4}.total().exact()));
}

}  // namespace
}  // namespace inflight
