// Converts gradients of coordinates to spans of texels.
#include "gpu/texture/gradients.hpp"

#include <cmath>
#include <limits>

#include "gpu/texture/cube.hpp"
#include "gpu/texture/digits.hpp"

namespace inflight::texture {
namespace {

// Replaces the difference of two infinite places, which is NaN, by infinity.
double known(double span) {
  return std::isnan(span) ? std::numeric_limits<double>::infinity() : span;
}

// The hardware has no gradient operands for volumes and cubemaps. A read has neighbours there, and
// the difference of their coordinates is the gradient. Measured: the sum of a coordinate and its
// gradient is rounded, a NaN counts as 0, and a place too many texels away for a float is infinite.
double between_places(float from, float gradient, float size) {
  const auto place = [size](float at) {
    if (std::isnan(at)) return 0.0f;
    return std::isinf(at * size) ? at * size : at;
  };
  return known(product(size, difference(place(from + gradient), place(from))));
}

// Computes the span along one of the two directions. Measured: gradients are multiplied by the size
// in ten bits. Returns whether the cube's face stays the same.
bool span(const Image& image, bool normalized, const Read& how, const float (&at)[3],
          const float (&gradient)[3], double (&out)[3]) {
  const Level& base = image.levels[0];
  if (is_cube(how.geometry)) {
    const float to[] = {at[0] + gradient[0], at[1] + gradient[1], at[2] + gradient[2]};
    const FaceStep step = step_on_cube(at, to, base.size[0] / 2.0);
    out[0] = known(step.s), out[1] = known(step.t);
    return step.same_face;
  }
  for (unsigned d = 0; d < dimensions(how.geometry); ++d) {
    const bool in_texels = !normalized && how.geometry != Geometry::volume;
    const float size = in_texels ? 1.0f : static_cast<float>(base.size[d]);
    out[d] = how.geometry == Geometry::volume ? between_places(at[d], gradient[d], size)
                                              : product(size, gradient[d]);
  }
  return true;
}

}  // namespace

Spans spans_of(const Texture& texture, const Read& how, const Request& r) {
  Spans spans;
  const bool along_x = span(texture.image, texture.sampler.normalized, how, r.at, r.dx, spans.x);
  const bool along_y = span(texture.image, texture.sampler.normalized, how, r.at, r.dy, spans.y);
  spans.together = along_x && along_y;
  return spans;
}

}  // namespace inflight::texture
