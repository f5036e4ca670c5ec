// Finds the face to which a direction points (CUDA C++ Programming Guide, "Cubemap Textures").
#include "gpu/texture/cube.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace inflight::texture {

namespace {

constexpr unsigned top = 2, front = 4;

// Is the hardware's reciprocal of the greatest coordinate neither 0 nor infinite? Otherwise the
// place is the centre of a face.
bool has_reciprocal(double size) { return size > 0 && size < 0x1p126; }

// A face, its distance `size`, and the place on it: `s` and `t` from -size to size.
struct Faced {
  unsigned face;
  double size, s, t;
};
// Projects a direction onto a face, which need not be the one it points to.
Faced seen_from(unsigned face, double x, double y, double z) {
  const Faced views[] = {{0, x, -z, -y}, {1, -x, z, -y}, {2, y, x, z},
                         {3, -y, x, -z}, {4, z, x, -y},  {5, -z, -x, -y}};
  return views[face];
}
Faced face_of(double x, double y, double z) {
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  if (az >= ax && az >= ay) return seen_from(z < 0 ? 5 : front, x, y, z);
  if (ay >= ax) return seen_from(y < 0 ? 3 : top, x, y, z);
  return seen_from(x < 0 ? 1 : 0, x, y, z);
}

// v / size as the hardware has it: a product with the reciprocal, both rounded to float. Its
// reciprocal is not rounded correctly for every size: of 262,144 steps on one face, 101 lead to
// another level than an H200's.
double ratio(double v, double size) { return static_cast<float>(v * static_cast<float>(1 / size)); }
bool is_denormal(double v) { return std::fabs(v) < 0x1p-126; }

}  // namespace

FacePlace on_cube(const float (&d)[3]) {
  double at[3];
  for (int i = 0; i < 3; ++i) at[i] = std::isnan(d[i]) ? 0 : d[i];
  const auto [face, size, s, t] = face_of(at[0], at[1], at[2]);
  if (!has_reciprocal(size)) return {std::isinf(at[2]) ? top : front, 0.5, 0.5};
  // Rounds down like normalized coordinates, before the addition could round to nearest.
  const auto place = [m = size](double v) {
    const double ratio = is_denormal(v) || is_denormal(v / m) ? 0 : v / m;
    return (std::floor(ratio * 0x1p20) + 0x1p20) * 0x1p-21;
  };
  return {face, place(s), place(t)};
}

FaceStep step_on_cube(const float (&from)[3], const float (&to)[3]) {
  const auto none = [](float v) { return std::isnan(v) ? 0.0 : v; };
  const double x = none(to[0]), y = none(to[1]), z = none(to[2]);
  const Faced start = face_of(none(from[0]), none(from[1]), none(from[2]));
  const Faced own = face_of(x, y, z), end = seen_from(start.face, x, y, z);
  const double s = ratio(start.s, start.size), t = ratio(start.t, start.size);
  if (own.face == start.face) return {ratio(end.s, end.size) - s, ratio(end.t, end.size) - t, true};
  constexpr double far = std::numeric_limits<double>::infinity();
  if (own.face == (start.face ^ 1)) return {far, far, false};
  const double behind = 2 - ratio(end.size, own.size);
  constexpr unsigned axis_of_s[] = {2, 0, 0};  // by the axis of the face
  if (own.face / 2 == axis_of_s[start.face / 2])
    return {std::copysign(behind, end.s) - s, ratio(end.t, own.size) - t, false};
  return {ratio(end.s, own.size) - s, std::copysign(behind, end.t) - t, false};
}

FaceTexel behind_edge(const FaceTexel& o, std::int32_t size) {
  // In half texels from the middle. A texel behind the edge is folded over it.
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
