// Computes the level of detail, given or from gradients, with bias, clamping and rounding.
#include "gpu/texture/levels.hpp"

#include <algorithm>
#include <cmath>

#include "gpu/texture/axis.hpp"
#include "gpu/texture/ellipse.hpp"

namespace inflight::texture {
namespace {

constexpr unsigned greatest_anisotropy = 16;

// Layered lines and volumes have no anisotropy.
unsigned most_probes(const Texture& t, const Read& how) {
  const bool none = how.geometry == Geometry::lines || how.geometry == Geometry::volume;
  return none || !t.filter || how.gather >= 0 ? 1
                                              : std::min(t.sampler.anisotropy, greatest_anisotropy);
}

// Spreads the probes over the longer axis. Without a bias, `ellipse.level` is in the first level or
// below it. In the second level the axis has half as many texels, and an axis shorter than a texel
// counts as a texel: one probe. Measured: bias and clamping change neither places nor weights.
void spread(const Ellipse& ellipse, Levels& levels) {
  const int ratio = ellipse.ratio + static_cast<int>(std::min(ellipse.level, 0.0) * whole);
  if (ratio <= 0) return;
  const int in_second = ratio + static_cast<int>(levels.fraction) - static_cast<int>(whole);
  levels.probes[0] = probes_along(ellipse.step, ratio, scale_of(levels.fraction));
  if (in_second > 0) levels.probes[1] = probes_along(ellipse.step, in_second, scale_of(0));
}

}  // namespace

Levels levels_of(const Texture& texture, const Read& how, const Request& request) {
  const Sampler& s = texture.sampler;
  const auto last = static_cast<unsigned>(texture.image.levels.size()) - 1;
  Levels levels;
  float level = how.lod == Lod::level ? request.level : 0;
  Ellipse e;
  if (how.lod == Lod::grad) {
    const Spans spans = spans_of(texture, how, request);
    // Across the edges of a cubemap the filter is isotropic.
    e = ellipse_of(spans, spans.together ? most_probes(texture, how) : 1);
    level = static_cast<float>(e.level);
  }
  if (last == 0) {
    spread(e, levels);
    return levels;
  }
  // The hardware truncates level and bias to 256ths. The base level has no bias.
  const auto cut = [](float f) { return std::trunc(f * whole) / whole; };
  level = std::isnan(level) ? 0 : std::clamp(level, -64.0f, 64.0f);
  level = cut(level) + (how.lod == Lod::base ? 0 : cut(s.bias));
  level = std::clamp(level, s.least, std::max(s.least, s.greatest));
  level = std::clamp(level, 0.0f, static_cast<float>(last));
  if (!s.mip_linear) {
    const auto nearest = static_cast<unsigned>(std::floor(level + 0.5f));
    levels.level[0] = levels.level[1] = std::min(nearest, last);
    spread(e, levels);
    return levels;
  }
  const auto steps = static_cast<unsigned>(std::floor(level * whole));
  const unsigned first = std::min(steps >> fraction_bits, last);
  levels.level[0] = first, levels.level[1] = std::min(first + 1, last);
  levels.fraction = steps & (whole - 1);
  spread(e, levels);
  return levels;
}

}  // namespace inflight::texture
