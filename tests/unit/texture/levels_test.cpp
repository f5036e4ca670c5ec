// Levels of detail: rounding, mixing, bias and clamps.
#include "gpu/texture/levels.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace inflight::texture
