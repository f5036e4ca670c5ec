// Computes the level of detail, given or from gradients, with bias, clamping and rounding.
#include "gpu/texture/levels.hpp"

#include <algorithm>
#include <cmath>

#include "gpu/texture/axis.hpp"
#include "gpu/texture/ellipse.hpp"

namespace inflight::texture {
namespace {

constexpr unsigned greatest_anisotropy = 16;

// Only linearly filtered lines and planes use anisotropy. Other cases were not measured.
unsigned most_probes(const Texture& t, const Read& how) {
  const bool flat = !is_cube(how.geometry) && dimensions(how.geometry) < 3;
  return flat && t.sampler.normalized && t.sampler.linear && t.filter && how.gather < 0
             ? std::min(t.sampler.anisotropy, greatest_anisotropy)
             : 1;
}

}  // namespace

Levels levels_of(const Texture& texture, const Read& how, const Request& request) {
  const Sampler& s = texture.sampler;
  const auto last = static_cast<unsigned>(texture.image.levels.size()) - 1;
  Levels levels;
  float level = how.lod == Lod::level ? request.level : 0;
  if (how.lod == Lod::grad) {
    const Ellipse e = ellipse_of(spans_of(texture.image, how, request), most_probes(texture, how));
    level = static_cast<float>(e.level);
    levels.probes = e.probes;
    for (unsigned d = 0; d < dimensions(how.geometry); ++d)
      levels.axis[d] = e.axis[d] / texture.image.levels[0].size[d];
  }
  if (last == 0) return levels;
  // The hardware truncates level and bias to 256ths. The base level has no bias.
  const auto cut = [](float f) { return std::trunc(f * whole) / whole; };
  level = std::isnan(level) ? 0 : std::clamp(level, -64.0f, 64.0f);
  level = cut(level) + (how.lod == Lod::base ? 0 : cut(s.bias));
  level = std::clamp(level, s.least, std::max(s.least, s.greatest));
  level = std::clamp(level, 0.0f, static_cast<float>(last));
  if (!s.mip_linear) {
    const auto nearest = static_cast<unsigned>(std::floor(level + 0.5f));
    levels.level[0] = levels.level[1] = std::min(nearest, last);
    return levels;
  }
  const auto steps = static_cast<unsigned>(std::floor(level * whole));
  const unsigned first = std::min(steps >> fraction_bits, last);
  levels.level[0] = first, levels.level[1] = std::min(first + 1, last);
  levels.fraction = steps & (whole - 1);
  return levels;
}

}  // namespace inflight::texture
