// Cubemaps: maps a direction to a face and a place on it, and a place to a neighbouring face.
#pragma once
#include <cstdint>

namespace inflight::texture {

struct FacePlace {
  unsigned face;  // +x, -x, +y, -y, +z, -z
  double s, t;    // normalized coordinates
};
FacePlace on_cube(const float (&direction)[3]);

// The distance of two directions in texels, on the face of the first. Half a face has `half`
// texels. The face continues behind its edges on the four neighbouring faces. The opposite face is
// infinitely far.
struct FaceStep {
  double s, t;
  bool same_face;
};
FaceStep step_on_cube(const float (&from)[3], const float (&to)[3], double half);

// Returns the texel of another face behind an edge of this one. One of `s` and `t` of `outside` is
// below 0, or `size` or more. Texels further behind the edge are further from it there, too.
struct FaceTexel {
  unsigned face;
  std::int32_t s, t;
};
FaceTexel behind_edge(const FaceTexel& outside, std::int32_t size);

}  // namespace inflight::texture
