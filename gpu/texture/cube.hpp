// Cubemaps: from a direction to a face and a place on it.
#pragma once

namespace inflight::texture {

struct FacePlace {
  unsigned face;  // +x, -x, +y, -y, +z, -z
  double s, t;    // normalized coordinates
};
FacePlace on_cube(const float (&direction)[3]);

}  // namespace inflight::texture
