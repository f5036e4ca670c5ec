// Positions in surfaces, and accesses outside them.
#include "gpu/texture/surface.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "picture.hpp"

namespace inflight::texture {
namespace {

struct InSurface : ::testing::Test {
  Picture picture{Geometry::planes, 8, 4, 3};
  SurfaceAccess access{Geometry::planes, Outside::zero, false, 4};
  std::optional<std::uint64_t> offset(SurfacePlace place) {
    const auto address = address_in(picture.texture.image, access, place);
    if (!address) return {};
    return *address - picture.texture.image.base;
  }
};

TEST_F(InSurface, FirstCoordinateCountsBytes) {
  EXPECT_EQ(offset({.x = 12, .y = 2, .layer = 1}), 4u * (32 + 16) + 12);
  access.formatted = true;
  EXPECT_EQ(offset({.x = 3, .y = 2, .layer = 1}), 4u * (32 + 16) + 12);
}

TEST_F(InSurface, OutsideThereIsNothing) {
  EXPECT_FALSE(offset({.x = 32}));
  EXPECT_FALSE(offset({.x = -4}));
  EXPECT_FALSE(offset({.y = 4}));
  EXPECT_FALSE(offset({.layer = 3}));
  access.bytes = 16;
  EXPECT_FALSE(offset({.x = 24}));
}

TEST_F(InSurface, ClampingTakesTheNearest) {
  access.outside = Outside::clamp;
  EXPECT_EQ(offset({.x = 400, .y = 1}), 4u * 8 + 28);
  EXPECT_EQ(offset({.x = -400, .y = 17}), 4u * 24);
}

TEST_F(InSurface, WhatIsWiderThanARowHasNoPlace) {
  Picture narrow(Geometry::plane, 2, 2);
  access = {Geometry::plane, Outside::clamp, false, 16};
  EXPECT_FALSE(address_in(narrow.texture.image, access, {}));
}

TEST(Surface, FormattedStoresWriteTheFormat) {
  const std::uint32_t channels[] = {0x1ff, 7, 0x80, 255};
  std::byte texel[4] = {};
  encode({Kind::unsigned_integer, 8, 4}, channels, 4, texel);
  EXPECT_EQ(texel[0], std::byte{255});  // the greatest
  EXPECT_EQ(texel[1], std::byte{7});
  EXPECT_EQ(texel[2], std::byte{0x80});
  EXPECT_EQ(texel[3], std::byte{255});
}

}  // namespace
}  // namespace inflight::texture
