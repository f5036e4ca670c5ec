// Reads of whole textures.
#include "gpu/texture/read.hpp"

#include <gtest/gtest.h>

#include "picture.hpp"

namespace inflight::texture {
namespace {

TEST(Read, PointsTakeTheTexelTheyAreIn) {
  Picture p(Geometry::plane, 8, 4);
  EXPECT_EQ(p.at(3.99f, 2.01f), 19);
  EXPECT_EQ(p.at(-5, 100), 24);
}

TEST(Read, LinesBetweenMiddlesOfTexels) {
  Picture p(Geometry::line, 8);
  p.texture.sampler.linear = true;
  EXPECT_EQ(p.at(3.5f), 3);
  EXPECT_EQ(p.at(4), 3.5f);
  EXPECT_EQ(p.at(4.25f), 3.75f);
  EXPECT_EQ(p.at(0), 0);
}

TEST(Read, VolumesMixEightTexels) {
  Picture p(Geometry::volume, 4, 4, 4);
  p.texture.sampler.linear = true;
  EXPECT_EQ(p.at(2, 2, 2), (21.0f + 42.0f) / 2);
}

TEST(Read, BordersHaveTheirColour) {
  Picture p(Geometry::plane, 8, 4);
  p.texture.sampler.address[0] = Address::border;
  p.texture.sampler.border[0] = 7.5f;
  EXPECT_EQ(p.at(8, 1), 7.5f);
  EXPECT_EQ(p.at(7, 1), 15);
}

TEST(Read, LayersAreChosenAndClamped) {
  Picture p(Geometry::planes, 4, 2, 3);
  Request r;
  r.at[0] = 1, r.layer = 2;
  EXPECT_EQ(p.read(r), 17);
  r.layer = 99;
  EXPECT_EQ(p.read(r), 17);
}

TEST(Read, GathersFourTexelsRoundAPlace) {
  Picture p(Geometry::plane, 8, 4);
  prepare(p.texture);
  Request r;
  r.at[0] = 3, r.at[1] = 2;
  const Value v = read(p.texture, {.gather = 0}, r, nullptr);
  const float expected[] = {18, 19, 11, 10};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(std::bit_cast<float>(v[static_cast<unsigned>(i)]), expected[i]);
}

// A direction read of an image that is not a cubemap stays inside it.
TEST(Read, DirectionsStayInsideTheImage) {
  Picture p(Geometry::planes, 4, 4, 3);
  prepare(p.texture);
  Request r;
  r.at[2] = -1, r.layer = 7;
  for (const Geometry g : {Geometry::cube, Geometry::cubes}) {
    Footprint touched{};
    read(p.texture, {.geometry = g}, r, &touched);
    ASSERT_EQ(touched.count, 1u);
    EXPECT_LT(touched.at[0], p.texture.image.base + p.texture.image.bytes);
  }
}

TEST(Read, IntegerCoordinatesTakeTexelsAndZeroOutside) {
  Picture p(Geometry::plane, 8, 4);
  p.texture.sampler.linear = p.texture.sampler.normalized = true;
  Request r;
  r.texel[0] = 3, r.texel[1] = 2;
  EXPECT_EQ(p.read(r, {.integer = true}), 19);
  r.texel[0] = 8;
  EXPECT_EQ(p.read(r, {.integer = true}), 0);
}

TEST(Read, LevelsAreMixed) {
  Picture p(Geometry::plane, 8, 8, 1, 3);
  p.texture.sampler.normalized = true, p.texture.sampler.mip_linear = true;
  p.texture.sampler.greatest = 10;
  Request r;
  r.level = 0.5f;
  EXPECT_EQ(p.read(r, {.lod = Lod::level}), 500);
}

TEST(Read, TellsOfWhatItTouched) {
  Picture p(Geometry::plane, 8, 4);
  p.texture.sampler.linear = true;
  prepare(p.texture);
  Request r;
  r.at[0] = 3, r.at[1] = 2;
  Footprint touched{};
  read(p.texture, {}, r, &touched);
  ASSERT_EQ(touched.count, 4u);
  const std::uint64_t base = p.texture.image.base;
  EXPECT_EQ(touched.at[0], base + 4 * 10);
  EXPECT_EQ(touched.at[3], base + 4 * 19);
}

}  // namespace
}  // namespace inflight::texture
