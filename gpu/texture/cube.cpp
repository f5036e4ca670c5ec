// The face that a direction points to (CUDA C++ Programming Guide, "Cubemap Textures").
#include "gpu/texture/cube.hpp"

#include <algorithm>
#include <cmath>

namespace inflight::texture {

namespace {

constexpr unsigned top = 2, front = 4;

// Where the hardware's reciprocal of the greatest coordinate is 0 or infinite, so are places.
bool has_reciprocal(double size) { return size > 0 && size < 0x1p126; }

// A face, how far away it is, and where on it: from -size to size.
struct Faced {
  unsigned face;
  double size, s, t;
};
Faced face_of(double x, double y, double z) {
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  if (az >= ax && az >= ay) return z < 0 ? Faced{5, az, -x, -y} : Faced{front, az, x, -y};
  if (ay >= ax) return y < 0 ? Faced{3, ay, x, -z} : Faced{top, ay, x, z};
  return x < 0 ? Faced{1, ax, z, -y} : Faced{0, ax, -z, -y};
}

bool is_denormal(double v) { return std::fabs(v) < 0x1p-126; }

}  // namespace

FacePlace on_cube(const float (&d)[3]) {
  double at[3];
  for (int i = 0; i < 3; ++i) at[i] = std::isnan(d[i]) ? 0 : d[i];
  const auto [face, size, s, t] = face_of(at[0], at[1], at[2]);
  if (!has_reciprocal(size)) return {std::isinf(at[2]) ? top : front, 0.5, 0.5};
  // Rounded down as normalized coordinates are, before a double rounds to the nearest.
  const auto place = [m = size](double v) {
    const double ratio = is_denormal(v) || is_denormal(v / m) ? 0 : v / m;
    return (std::floor(ratio * 0x1p20) + 0x1p20) * 0x1p-21;
  };
  return {face, place(s), place(t)};
}

FaceTexel behind_edge(const FaceTexel& o, std::int32_t size) {
  // In halves of texels from the middle; what lies behind the edge is bent over it.
  const auto half = [size](std::int32_t i) { return std::clamp(2 * i + 1 - size, -size, size); };
  const int s = half(o.s), t = half(o.t), m = size - 1;
  const int directions[6][3] = {{m, -t, -s}, {-m, -t, s}, {s, m, t},
                                {s, -m, -t}, {s, -t, m},  {-s, -t, -m}};
  const int* const d = directions[o.face];
  const Faced there = face_of(d[0], d[1], d[2]);
  const auto texel = [size](double v) { return (static_cast<std::int32_t>(v) + size) / 2; };
  return {there.face, texel(there.s), texel(there.t)};
}

}  // namespace inflight::texture
