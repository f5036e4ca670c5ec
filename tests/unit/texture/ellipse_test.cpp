// Gradients of a pixel: its levels of detail and probes.
#include "gpu/texture/ellipse.hpp"

#include <gtest/gtest.h>

#include <limits>

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
  EXPECT_EQ(ellipse_of(across(8, 1), 1).probes, 1u);
}

TEST(Ellipse, AnisotropicFiltersProbeAlongIt) {
  const Ellipse e = ellipse_of(across(8, 1), 16);
  EXPECT_EQ(e.level, 0);
  EXPECT_EQ(e.probes, 8u);
  EXPECT_EQ(e.axis[0], 8);
  EXPECT_EQ(e.axis[1], 0);
}

TEST(Ellipse, FewProbesCoverTheRestByTheLevel) {
  const Ellipse e = ellipse_of(across(8, 1), 2);
  EXPECT_EQ(e.level, 2);
  EXPECT_EQ(e.probes, 2u);
}

TEST(Ellipse, NothingIsProbedWithinATexel) {
  EXPECT_EQ(ellipse_of(across(0.5, 0.01), 16).probes, 1u);
  EXPECT_EQ(ellipse_of(across(0, 0), 16).probes, 1u);
  EXPECT_EQ(ellipse_of(across(std::numeric_limits<double>::infinity(), 1), 16).probes, 1u);
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
