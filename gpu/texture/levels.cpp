// The level of detail: given, or from gradients; biased, clamped, rounded.
#include "gpu/texture/levels.hpp"

#include <algorithm>
#include <cmath>

#include "gpu/texture/axis.hpp"

namespace inflight::texture {
namespace {

// The longer axis of the ellipse of texels that a pixel covers. An H200 approximates it: its level
// is within an eighth of this one.
float from_gradients(const Image& image, const Request& r, unsigned count) {
  double x = 0, y = 0, both = 0;
  for (unsigned d = 0; d < count; ++d) {
    const double size = image.levels[0].size[d], dx = r.dx[d] * size, dy = r.dy[d] * size;
    x += dx * dx, y += dy * dy, both += dx * dy;
  }
  const double longer = (x + y + std::hypot(x - y, 2 * both)) / 2;
  return static_cast<float>(std::log2(longer) / 2);
}

}  // namespace

Levels levels_of(const Texture& texture, const Read& how, const Request& request) {
  const Sampler& s = texture.sampler;
  const auto last = static_cast<unsigned>(texture.image.levels.size()) - 1;
  if (last == 0) return {};
  float level = how.lod == Lod::level ? request.level : 0;
  if (how.lod == Lod::grad)
    level = from_gradients(texture.image, request, dimensions(how.geometry));
  // The hardware keeps level and bias in 256ths, cut off. The base level has no bias.
  const auto cut = [](float f) { return std::trunc(f * whole) / whole; };
  level = std::isnan(level) ? 0 : std::clamp(level, -64.0f, 64.0f);
  level = cut(level) + (how.lod == Lod::base ? 0 : cut(s.bias));
  level = std::clamp(level, s.least, std::max(s.least, s.greatest));
  level = std::clamp(level, 0.0f, static_cast<float>(last));
  if (!s.mip_linear) {
    const auto nearest = static_cast<unsigned>(std::floor(level + 0.5f));
    return {{std::min(nearest, last), std::min(nearest, last)}, 0};
  }
  const auto steps = static_cast<unsigned>(std::floor(level * whole));
  const unsigned first = std::min(steps >> fraction_bits, last);
  return {{first, std::min(first + 1, last)}, steps & (whole - 1)};
}

}  // namespace inflight::texture
