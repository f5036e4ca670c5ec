// The face that a direction points to (CUDA C++ Programming Guide, "Cubemap Textures").
#include "gpu/texture/cube.hpp"

#include <cmath>

namespace inflight::texture {

namespace {

constexpr unsigned top = 2, front = 4;

// Where the hardware's reciprocal of the greatest coordinate is 0 or infinite, so are places.
bool has_reciprocal(double size) { return size > 0 && size < 0x1p126; }

bool is_denormal(double v) { return std::fabs(v) < 0x1p-126; }

}  // namespace

FacePlace on_cube(const float (&d)[3]) {
  double at[3];
  for (int i = 0; i < 3; ++i) at[i] = std::isnan(d[i]) ? 0 : d[i];
  const double x = at[0], y = at[1], z = at[2];
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  unsigned face = 0;
  double m = ax, s = 0, t = 0;
  if (az >= ax && az >= ay) {
    face = z < 0 ? 5 : front, m = az;
    s = face == front ? x : -x, t = -y;
  } else if (ay >= ax) {
    face = y < 0 ? 3 : top, m = ay;
    s = x, t = face == top ? z : -z;
  } else {
    face = x < 0 ? 1 : 0;
    s = face == 0 ? -z : z, t = -y;
  }
  if (!has_reciprocal(m)) return {std::isinf(z) ? top : front, 0.5, 0.5};
  // Rounded down as normalized coordinates are, before a double rounds to the nearest.
  const auto place = [&](double v) {
    const double ratio = is_denormal(v) || is_denormal(v / m) ? 0 : v / m;
    return (std::floor(ratio * 0x1p20) + 0x1p20) * 0x1p-21;
  };
  return {face, place(s), place(t)};
}

}  // namespace inflight::texture
