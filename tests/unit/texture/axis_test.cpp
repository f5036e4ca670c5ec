// Coordinates along one dimension: address modes and fractions.
#include "gpu/texture/axis.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace inflight::texture {
namespace {

std::vector<int> walk(Address mode, bool normalized) {
  std::vector<int> texels;
  for (int i = -5; i < 9; ++i) texels.push_back(addressed(i, {4, mode, normalized}));
  return texels;
}
constexpr int b = Axis::border;

TEST(Axis, ModesOfNormalizedCoordinates) {
  EXPECT_EQ(walk(Address::wrap, true),
            (std::vector<int>{3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0}));
  EXPECT_EQ(walk(Address::mirror, true),
            (std::vector<int>{3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0}));
  EXPECT_EQ(walk(Address::clamp, true),
            (std::vector<int>{0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(walk(Address::border, true),
            (std::vector<int>{b, b, b, b, b, 0, 1, 2, 3, b, b, b, b, b}));
}

// Wrapping and mirroring need normalized coordinates. CUDA clamps others.
TEST(Axis, CountedTexelsDoNotWrap) {
  EXPECT_EQ(walk(Address::wrap, false), walk(Address::clamp, false));
  EXPECT_EQ(walk(Address::mirror, false), walk(Address::clamp, false));
}

TEST(Axis, FractionsHaveEightBits) {
  const Dimension along{16, Address::clamp, false};
  for (int i = 0; i < 256; ++i) {
    const Axis a = between(3.5f + static_cast<float>(i) / 256, 0, along);
    EXPECT_EQ(a.texel[0], 3);
    EXPECT_EQ(a.texel[1], 4);
    EXPECT_EQ(a.fraction, static_cast<std::uint32_t>(i));
  }
}

TEST(Axis, EveryFloatHasATexel) {
  for (const Address mode : {Address::wrap, Address::clamp, Address::mirror})
    for (const float x :
         {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
          std::numeric_limits<float>::quiet_NaN(), 3e38f, -3e38f, 1e-40f})
      for (const bool normalized : {false, true})
        for (const Axis& a :
             {nearest(x, 0, {7, mode, normalized}), between(x, 0, {7, mode, normalized})})
          for (const int texel : a.texel) {
            EXPECT_GE(texel, 0);
            EXPECT_LT(texel, 7);
          }
}

}  // namespace
}  // namespace inflight::texture
