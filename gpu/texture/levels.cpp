// The level of detail: given, or from gradients; biased, clamped, rounded.
#include "gpu/texture/levels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "gpu/texture/axis.hpp"
#include "gpu/texture/gradients.hpp"

namespace inflight::texture {
namespace {

// The weight of the lowest bit of those that a number keeps.
double step_of(double v, int bits) { return std::ldexp(1.0, std::ilogb(v) + 1 - bits); }
bool is_plain(double v) { return v != 0 && std::isfinite(v); }

// So many of its significant bits.
double cut_to(double v, int bits) {
  if (!is_plain(v)) return v;
  const double step = step_of(v, bits);
  return std::trunc(v / step) * step;
}

// 11/16 of it, by a subtraction of twelve bits.
double eleven_sixteenths(double v) {
  v = cut_to(v, 10);
  if (!is_plain(v)) return v;
  const double step = step_of(v, 12);
  return v - std::floor(v * (5.0 / 16) / step) * step;
}

using Span = std::array<double, 3>;

// The longest part of it, 11/32 of the next and a quarter of the third, in steps of the longest's
// tenth bit: exact in all but 4 of 914 places where nothing else decided.
double length(const Span& span) {
  Span sorted{std::fabs(span[0]), std::fabs(span[1]), std::fabs(span[2])};
  std::sort(sorted.begin(), sorted.end());
  if (!is_plain(sorted[2])) return sorted[2];
  const double step = step_of(sorted[2], 10);
  const double others = sorted[1] * (11.0 / 32) + sorted[0] / 4;
  return (std::floor(sorted[2] / step) + std::floor(others / step)) * step;
}

// The logarithm in 256ths, of nine bits.
double logarithm(double v) {
  if (!is_plain(v)) return std::log2(v);
  const int exponent = std::ilogb(v);
  const double part = std::floor(std::ldexp(v, 8 - exponent));  // 256 to 511
  const double steps = std::round(std::log2((part + 0.468) / whole) * whole);
  return exponent + (part == whole ? 0 : std::min(steps, whole - 1.0)) / whole;
}

// Of the longer axis of the ellipse of texels that a pixel covers, as an H200 approximates it:
// fitted to its levels. Where sum and difference decide, one of 41 places of a line differs by
// 1/256, and one of six of a plane and of a volume.
double from_gradients(const Image& image, const Read& how, const Request& r) {
  const Spans spans = spans_of(image, how, r);
  Span x{}, y{}, sum{}, less{};
  for (unsigned d = 0; d < 3; ++d) {
    x[d] = spans.x[d], y[d] = spans.y[d];
    const double a = cut_to(x[d], 10), b = cut_to(y[d], 10);
    sum[d] = cut_to(a + b, 10), less[d] = cut_to(a - b, 10);
  }
  const double longer = std::max(length(x), length(y));
  if (!spans.together || !std::isfinite(longer)) return logarithm(longer);
  return logarithm(std::max(longer, eleven_sixteenths(std::max(length(sum), length(less)))));
}

}  // namespace

Levels levels_of(const Texture& texture, const Read& how, const Request& request) {
  const Sampler& s = texture.sampler;
  const auto last = static_cast<unsigned>(texture.image.levels.size()) - 1;
  if (last == 0) return {};
  float level = how.lod == Lod::level ? request.level : 0;
  if (how.lod == Lod::grad) level = from_gradients(texture.image, how, request);
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
