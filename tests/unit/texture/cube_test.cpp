// Directions to the faces of a cube.
#include "gpu/texture/cube.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

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

// Every edge leads to another face, from which one edge leads back.
TEST(Cube, EdgesLeadToAnotherFaceAndBack) {
  for (const std::int32_t size : {1, 2, 5})
    for (unsigned face = 0; face < 6; ++face)
      for (std::int32_t along = 0; along < size; ++along)
        for (const std::int32_t out : {-1, size})
          for (const bool s_is_out : {false, true}) {
            const std::int32_t last = out < 0 ? 0 : size - 1;
            const FaceTexel from =
                s_is_out ? FaceTexel{face, last, along} : FaceTexel{face, along, last};
            const FaceTexel there = behind_edge(
                s_is_out ? FaceTexel{face, out, along} : FaceTexel{face, along, out}, size);
            EXPECT_NE(there.face, face);
            EXPECT_NE(there.face, face ^ 1);
            int back = 0;
            for (const auto& [ds, dt] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
              const std::int32_t s = there.s + ds, t = there.t + dt;
              if (s >= 0 && s < size && t >= 0 && t < size) continue;
              const FaceTexel again = behind_edge({there.face, s, t}, size);
              back += again.face == from.face && again.s == from.s && again.t == from.t;
            }
            EXPECT_EQ(back, 1) << "face " << face << ", size " << size;
          }
}

TEST(Cube, StepsOnOneFaceAreDifferencesOfPlaces) {
  const FaceStep step = step_on_cube({2, 1, 0}, {4, 1, -1}, 1);  // -z/x, -y/x
  EXPECT_TRUE(step.same_face);
  EXPECT_EQ(step.s, 0.25);
  EXPECT_EQ(step.t, 0.25);
}

TEST(Cube, StepsGoOnBehindEdges) {
  // From the middle of +z to +x: half a face to the edge, and a quarter of a face past it.
  const FaceStep right = step_on_cube({0, 0, 1}, {1, 0.25f, 0.5f}, 1);
  EXPECT_FALSE(right.same_face);
  EXPECT_EQ(right.s, 1.5);
  EXPECT_EQ(right.t, -0.25);
  const FaceStep up = step_on_cube({0, 0, 1}, {0, 1, 0.5f}, 1);
  EXPECT_EQ(up.s, 0);
  EXPECT_EQ(up.t, -1.5);
  EXPECT_TRUE(std::isinf(step_on_cube({0, 0, 1}, {0, 0, -1}, 1).s));
}

// A cube of 20 texels: 10 texels to the edge and 5 behind it. Products have ten bits.
TEST(Cube, StepsAreInTexels) {
  EXPECT_EQ(step_on_cube({0, 0, 1}, {1, 0.25f, 0.5f}, 10).s, 15);
  EXPECT_EQ(step_on_cube({0, 0, 1}, {0.25f, 0, 1}, 10).s, 2.5);
}

// Faces are chosen after the division. Here the hardware's reciprocal makes both coordinates 1.
TEST(Cube, ChoosesTheFaceOfTheNormalizedDirection) {
  const float just_less = std::nextafter(1.5f, 1.0f);
  EXPECT_EQ(on_cube({1.5f, 0, 1.5f}).face, 4u);
  unsigned front = 0;
  for (float size = 1; size < 2; size += 0x1p-10f)
    front += on_cube({size, 0, std::nextafter(size, 1.0f)}).face == 4;
  EXPECT_GT(front, 0u);
  EXPECT_EQ(on_cube({1.5f, 0, just_less - 0.001f}).face, 0u);
}

TEST(Cube, TexelsFarBehindAnEdgeAreFarFromItThere) {
  constexpr std::int32_t size = 8;
  for (std::int32_t depth = 0; depth < size; ++depth) {
    const FaceTexel right = behind_edge({4, size + depth, 3}, size);  // of +z: +x, from the left
    EXPECT_EQ(right.face, 0u);
    EXPECT_EQ(right.s, depth);
    EXPECT_EQ(right.t, 3);
  }
}

// A short step stays short across all faces.
TEST(Cube, ShortStepsAreShortAcrossEveryEdge) {
  constexpr float near = 1 / 1024.0f;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      for (const float i : {1.0f, -1.0f})
        for (const float j : {1.0f, -1.0f}) {
          if (a == b) continue;
          float from[3] = {}, to[3] = {};
          from[a] = to[a] = i, from[b] = to[b] = j;
          from[b] *= 1 - near, to[a] *= 1 - near;
          const FaceStep step = step_on_cube(from, to, 1);
          EXPECT_FALSE(step.same_face);
          EXPECT_NEAR(std::fabs(step.s) + std::fabs(step.t), 2 * near, 1e-6);
        }
}

}  // namespace
}  // namespace inflight::texture
