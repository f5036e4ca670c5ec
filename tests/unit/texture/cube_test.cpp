// Directions to the faces of a cube.
#include "gpu/texture/cube.hpp"

#include <gtest/gtest.h>

namespace inflight::texture {
namespace {

TEST(Cube, AxesPointToTheMiddlesOfFaces) {
  for (int axis = 0; axis < 3; ++axis)
    for (const bool negative : {false, true}) {
      float d[3] = {};
      d[axis] = negative ? -3.0f : 3.0f;
      const FacePlace place = on_cube(d);
      EXPECT_EQ(place.face, 2u * static_cast<unsigned>(axis) + negative);
      EXPECT_EQ(place.s, 0.5f);
      EXPECT_EQ(place.t, 0.5f);
    }
}

// CUDA C++ Programming Guide, the table of faces: s and t by face.
TEST(Cube, FacesAreOrientedAsDocumented) {
  const struct {
    float direction[3];
    unsigned face;
    float s, t;
  } places[] = {
      {{1, 0.5f, -0.25f}, 0, 0.625f, 0.25f}, {{-1, 0.5f, -0.25f}, 1, 0.375f, 0.25f},
      {{0.5f, 1, -0.25f}, 2, 0.75f, 0.375f}, {{0.5f, -1, -0.25f}, 3, 0.75f, 0.625f},
      {{0.5f, -0.25f, 1}, 4, 0.75f, 0.625f}, {{0.5f, -0.25f, -1}, 5, 0.25f, 0.625f},
  };
  for (const auto& p : places) {
    const FacePlace place = on_cube(p.direction);
    EXPECT_EQ(place.face, p.face);
    EXPECT_FLOAT_EQ(place.s, p.s);
    EXPECT_FLOAT_EQ(place.t, p.t);
  }
}

}  // namespace
}  // namespace inflight::texture
