// Gradients of a pixel: its levels of detail and probes.
#include "gpu/texture/ellipse.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "gpu/texture/digits.hpp"
#include "gpu/texture/probes.hpp"
#include "picture.hpp"

namespace inflight::texture {
namespace {

Spans across(double x, double y) {
  Spans s;
  s.x[0] = x, s.y[1] = y;
  return s;
}

TEST(Ellipse, IsotropicFiltersTakeTheLongerSpan) {
  EXPECT_EQ(ellipse_of(across(8, 1), 1).level, 3);
  EXPECT_EQ(ellipse_of(across(1, 4), 1).level, 2);
  EXPECT_EQ(ellipse_of(across(8, 1), 1).ratio, 0);
}

TEST(Ellipse, AnisotropicFiltersProbeAlongIt) {
  const Ellipse e = ellipse_of(across(8, 1), 16);
  EXPECT_EQ(e.level, 0);
  EXPECT_EQ(e.ratio, 3 * 256);
  EXPECT_EQ(e.step[0], 64);
  EXPECT_EQ(e.step[1], 0);
}

TEST(Ellipse, FewProbesCoverTheRestByTheLevel) {
  const Ellipse e = ellipse_of(across(8, 1), 2);
  EXPECT_EQ(e.level, 2);
  EXPECT_EQ(e.ratio, 256);
  // Ratios of 6, 10 and 12 are cut to 16ths of an octave, and 14 acts as 12.
  EXPECT_EQ(ellipse_of(across(64, 1), 7).ratio, 656);
  EXPECT_EQ(ellipse_of(across(64, 1), 10).ratio, 848);
  EXPECT_EQ(ellipse_of(across(64, 1), 14).ratio, 912);
}

TEST(Digits, ProductsHaveTenBits) {
  EXPECT_EQ(product(64, 513), 64 * 513);
  EXPECT_EQ(product(-3, 0.25), -0.75);
  EXPECT_EQ(product(3, 513.5), 1540);  // 1540.5 with all bits
  EXPECT_EQ(product(20, 513), 10272);  // 10260 with all bits
  EXPECT_EQ(product(0, 3), 0);
}

TEST(Ellipse, NothingIsProbedAlongNoAxis) {
  EXPECT_EQ(ellipse_of(across(0, 0), 16).ratio, 0);
  EXPECT_EQ(ellipse_of(across(std::numeric_limits<double>::infinity(), 1), 16).ratio, 0);
}

TEST(Probes, InnerOnesWeighTheInverseOfTheRatio) {
  const int along_x[] = {64, 0};
  const Probes three = probes_along(along_x, 406, 64);  // nearly 3
  ASSERT_EQ(three.pairs, 2u);
  EXPECT_EQ(three.all, 512u);
  EXPECT_EQ(weight_of(three, 0, false, 256), 85u * 2 + 1);
  EXPECT_EQ(weight_of(three, 1, true, 256), 85u);
  EXPECT_EQ(three.place[0][0], 128);
  EXPECT_EQ(three.place[1][0], 384);
}

TEST(Probes, TwoMoveApart) {
  const int along_x[] = {64, 0};
  EXPECT_EQ(probes_along(along_x, 0, 64).place[0][0], 0);
  EXPECT_EQ(probes_along(along_x, 128, 64).place[0][0], 76);
  EXPECT_EQ(probes_along(along_x, 256, 64).place[0][0], 128);
}

TEST(Probes, WeightsAreRoundedTogether) {
  const int along_x[] = {64, 0};
  const Probes eight = probes_along(along_x, 768, 64);
  ASSERT_EQ(eight.pairs, 4u);
  // Halves of 128 * 75 / 256 = 37.5 round down on one side, and up on the other.
  EXPECT_EQ(weight_of(eight, 0, false, 75), 37u);
  EXPECT_EQ(weight_of(eight, 1, false, 75), 38u);
  EXPECT_EQ(weight_of(eight, 0, true, 75), 38u);
  EXPECT_EQ(weight_of(eight, 1, true, 75), 37u);
}

TEST(Ellipse, ReadsGiveTheMeanOfTheirProbes) {
  Picture picture{Geometry::plane, 32, 32};
  Sampler& s = picture.texture.sampler;
  s.normalized = s.linear = true, s.anisotropy = 16;
  Request r;
  r.at[0] = 0, r.at[1] = 0.5f / 32;
  r.dx[0] = 8 / 32.0f, r.dy[1] = 1 / 32.0f;
  // Four of eight probes lie before the first texel, the others on 0, 1, 2 and 3.
  EXPECT_FLOAT_EQ(picture.read(r, {.lod = Lod::grad}), 0.75f);
  EXPECT_FLOAT_EQ(picture.read(r, {.lod = Lod::base}), 0);
}

}  // namespace
}  // namespace inflight::texture
