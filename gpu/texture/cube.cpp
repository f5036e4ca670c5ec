// Finds the face to which a direction points (CUDA C++ Programming Guide, "Cubemap Textures").
#include "gpu/texture/cube.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "gpu/numbers/multifunction.hpp"
#include "gpu/texture/digits.hpp"

namespace inflight::texture {

namespace {

constexpr unsigned top = 2, front = 4;

using Direction = std::array<float, 3>;

float greatest(const Direction& d) {
  return std::fmax(std::fmax(std::fabs(d[0]), std::fabs(d[1])), std::fabs(d[2]));
}
// Divides by the greatest coordinate. On a GPU, instructions before the read do so, with the
// multifunction unit's reciprocal.
Direction normalized(const Direction& d) {
  const float r = numbers::multifunction::reciprocal(greatest(d));
  return {d[0] * r, d[1] * r, d[2] * r};
}

// A face, its distance `size`, and the place on it: `s` and `t` from -size to size.
struct Faced {
  unsigned face;
  float size, s, t;
};
// Projects a direction onto a face, which need not be the one it points to.
Faced seen_from(unsigned face, const Direction& d) {
  const auto known = [](float v) { return std::isnan(v) ? 0 : v; };
  const float x = known(d[0]), y = known(d[1]), z = known(d[2]);
  const Faced views[] = {{0, x, -z, -y}, {1, -x, z, -y}, {2, y, x, z},
                         {3, -y, x, -z}, {4, z, x, -y},  {5, -z, -x, -y}};
  return views[face];
}
// A NaN is less than all numbers.
Faced face_of(const Direction& d) {
  const auto size = [](float v) { return std::isnan(v) ? -1 : std::fabs(v); };
  const float x = size(d[0]), y = size(d[1]), z = size(d[2]);
  if (z >= x && z >= y) return seen_from(d[2] < 0 ? 5 : front, d);
  if (y >= x) return seen_from(d[1] < 0 ? 3 : top, d);
  return seen_from(d[0] < 0 ? 1 : 0, d);
}

bool is_denormal(float v) { return std::fabs(v) < 0x1p-126f; }

}  // namespace

FacePlace on_cube(const float (&d)[3]) {
  const auto [face, size, s, t] = face_of(normalized({d[0], d[1], d[2]}));
  // Rounds down like normalized coordinates, before the addition could round to nearest.
  const auto place = [](float v) {
    const double known = is_denormal(v) ? 0 : std::clamp(v, -1.0f, 1.0f);
    return (std::floor(known * 0x1p20) + 0x1p20) * 0x1p-21;
  };
  return {face, place(s), place(t)};
}

FaceStep step_on_cube(const float (&from)[3], const float (&to)[3], double half) {
  const Direction there = normalized({to[0], to[1], to[2]});
  const Faced start = face_of(normalized({from[0], from[1], from[2]}));
  const Faced own = face_of(there), end = seen_from(start.face, there);
  const auto along = [half](float from, float to) { return product(half, difference(to, from)); };
  if (own.face == start.face) return {along(start.s, end.s), along(start.t, end.t), true};
  constexpr double far = std::numeric_limits<double>::infinity();
  if (own.face == (start.face ^ 1)) return {far, far, false};
  // The way to the edge and the way behind it. The other face lies on the side of `sign`.
  const auto across = [half, &end](float from, float sign) {
    const double before = difference(1, sign * from), behind = difference(1, end.size);
    return sign * sum_of_lengths(product(half, before), product(half, behind));
  };
  constexpr Direction axes[] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
  const Faced edge = seen_from(start.face, axes[own.face]);
  if (edge.s != 0) return {across(start.s, edge.s), along(start.t, end.t), false};
  return {along(start.s, end.s), across(start.t, edge.t), false};
}

FaceTexel behind_edge(const FaceTexel& o, std::int32_t size) {
  // In half texels from the middle. A texel behind the edge is folded over it.
  const auto half = [size](std::int32_t i) {
    return static_cast<float>(std::clamp(2 * i + 1 - size, -size, size));
  };
  const auto behind = [size](std::int32_t i) { return std::max(i - size, -1 - i); };
  const std::int32_t depth = std::max({behind(o.s), behind(o.t), 0});
  const float s = half(o.s), t = half(o.t), m = static_cast<float>(size - 1 - 2 * depth);
  const Direction directions[6] = {{m, -t, -s}, {-m, -t, s}, {s, m, t},
                                   {s, -m, -t}, {s, -t, m},  {-s, -t, -m}};
  const Faced there = face_of(directions[o.face]);
  const auto texel = [size](float v) { return (static_cast<std::int32_t>(v) + size) / 2; };
  return {there.face, texel(there.s), texel(there.t)};
}

}  // namespace inflight::texture
