// Levels of detail: rounding, mixing, bias and clamps.
#include "gpu/texture/levels.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "picture.hpp"

namespace inflight::texture {
namespace {

struct Levelled : ::testing::Test {
  Picture picture{Geometry::plane, 32, 32, 1, 5};
  Sampler& sampler = picture.texture.sampler;
  void SetUp() override { sampler.normalized = true, sampler.greatest = 100; }
  Levels at(float level) {
    Request r;
    r.level = level;
    return levels_of(picture.texture, {.lod = Lod::level}, r);
  }
};

TEST_F(Levelled, WithoutMixingTheNearestIsTaken) {
  EXPECT_EQ(at(-3).level[0], 0u);
  EXPECT_EQ(at(1.25f).level[0], 1u);
  EXPECT_EQ(at(1.75f).level[0], 2u);
  EXPECT_EQ(at(77).level[0], 4u);
}

TEST_F(Levelled, MixingGivesTwoNeighbours) {
  sampler.mip_linear = true;
  const Levels l = at(2.5f);
  EXPECT_EQ(l.level[0], 2u);
  EXPECT_EQ(l.level[1], 3u);
  EXPECT_EQ(l.fraction, 128u);
}

TEST_F(Levelled, BiasComesBeforeClamps) {
  sampler.bias = 1;
  EXPECT_EQ(at(1).level[0], 2u);
  sampler.least = 3;
  EXPECT_EQ(at(1).level[0], 3u);
  sampler.least = 0, sampler.greatest = 1;
  EXPECT_EQ(at(4).level[0], 1u);
}

TEST_F(Levelled, GradientsOfOneTexelMeanLevelZero) {
  Request r;
  r.dx[0] = 1 / 32.0f, r.dy[1] = 1 / 32.0f;
  EXPECT_EQ(levels_of(picture.texture, {.lod = Lod::grad}, r).level[0], 0u);
  r.dx[0] = 4 / 32.0f;
  EXPECT_EQ(levels_of(picture.texture, {.lod = Lod::grad}, r).level[0], 2u);
}

TEST(LevelsOfCubes, GradientsAreTexelsOfTheFace) {
  Picture picture{Geometry::cube, 32, 32, 6, 5};
  picture.texture.sampler.greatest = 100;
  const auto level = [&](float x, float y, float z) {
    Request r;
    r.at[0] = 1;
    r.dx[0] = x, r.dx[1] = y, r.dx[2] = z;
    return levels_of(picture.texture, {.geometry = Geometry::cube, .lod = Lod::grad}, r).level[0];
  };
  EXPECT_EQ(level(0, 1 / 16.0f, 0), 0u);
  EXPECT_EQ(level(0, 0, 0.25f), 2u);
  EXPECT_EQ(level(-0.25f, 0, 0), 0u);  // the same place
  EXPECT_EQ(level(-0.5f, 0, 1), 4u);   // 24 texels, behind the edge
  EXPECT_EQ(level(-2, 0, 0), 4u);      // the face across
}

// Coordinates far from the origin cannot express a small gradient.
TEST(LevelsOfVolumes, GradientsAreRoundedWithTheirPlaces) {
  Picture picture{Geometry::volume, 32, 32, 32, 5};
  picture.texture.sampler.greatest = 100;
  const auto level = [&](float at, float x) {
    Request r;
    r.at[0] = at, r.dx[0] = x;
    return levels_of(picture.texture, {.geometry = Geometry::volume, .lod = Lod::grad}, r).level[0];
  };
  EXPECT_EQ(level(0.5f, 0.25f), 3u);
  EXPECT_EQ(level(0x1p24f, 0.25f), 0u);
  EXPECT_EQ(level(std::numeric_limits<float>::quiet_NaN(), 0.25f), 0u);
  EXPECT_EQ(level(std::numeric_limits<float>::infinity(), 0.25f), 4u);
}

}  // namespace
}  // namespace inflight::texture
