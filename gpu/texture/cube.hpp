// Cubemaps: from a direction to a face and a place on it, and from face to face.
#pragma once
#include <cstdint>

namespace inflight::texture {

struct FacePlace {
  unsigned face;  // +x, -x, +y, -y, +z, -z
  double s, t;    // normalized coordinates
};
FacePlace on_cube(const float (&direction)[3]);

// How far apart two directions are on the face of the first, half of which is 1. It goes on behind
// its edges, on the four faces beside it; what lies on the face across from it is infinitely far.
struct FaceStep {
  double s, t;
  bool same_face;
};
FaceStep step_on_cube(const float (&from)[3], const float (&to)[3]);

// The texel of another face that lies behind an edge of this one: of `s` and `t` one is -1 or
// `size`.
struct FaceTexel {
  unsigned face;
  std::int32_t s, t;
};
FaceTexel behind_edge(const FaceTexel& outside, std::int32_t size);

}  // namespace inflight::texture
