// Lengths and logarithms in few bits, like the hardware's.
#include "gpu/texture/ellipse.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "gpu/texture/axis.hpp"

namespace inflight::texture {
namespace {

// The weight of the lowest of the `bits` significant bits of `v`.
double step_of(double v, int bits) { return std::ldexp(1.0, std::ilogb(v) + 1 - bits); }
bool is_plain(double v) { return v != 0 && std::isfinite(v); }

// Truncates `v` to `bits` significant bits.
double cut_to(double v, int bits) {
  if (!is_plain(v)) return v;
  const double step = step_of(v, bits);
  return std::trunc(v / step) * step;
}

// 11/16 of `v`, by a subtraction in twelve bits.
double eleven_sixteenths(double v) {
  v = cut_to(v, 10);
  if (!is_plain(v)) return v;
  const double step = step_of(v, 12);
  return v - std::floor(v * (5.0 / 16) / step) * step;
}

using Span = std::array<double, 3>;

// The longest component plus 11/32 of the next and a quarter of the third, in steps of the
// longest's tenth bit. Equal to an H200 in all but 4 of 914 places where nothing else matters.
double length(const Span& span) {
  Span sorted{std::fabs(span[0]), std::fabs(span[1]), std::fabs(span[2])};
  std::sort(sorted.begin(), sorted.end());
  if (!is_plain(sorted[2])) return sorted[2];
  const double step = step_of(sorted[2], 10);
  const double others = sorted[1] * (11.0 / 32) + sorted[0] / 4;
  return (std::floor(sorted[2] / step) + std::floor(others / step)) * step;
}

// The binary logarithm in 256ths, of the nine highest bits.
double logarithm(double v) {
  if (!is_plain(v)) return std::log2(v);
  const int exponent = std::ilogb(v);
  const double part = std::floor(std::ldexp(v, 8 - exponent));  // 256 to 511
  const double steps = std::round(std::log2((part + 0.468) / whole) * whole);
  return exponent + (part == whole ? 0 : std::min(steps, whole - 1.0)) / whole;
}

// A span across the ellipse, and its length.
struct Candidate {
  Span span;
  double length;
};

// The longest of four candidates: both spans, and 11/16 of their sum and of their difference.
// Fitted to an H200's levels. If sum or difference is the longest, one in 41 places of a line
// differs by 1/256, and one in five to eight of a plane and of a volume.
Candidate longest_of(const Spans& spans) {
  Span x{}, y{}, sum{}, less{};
  for (unsigned d = 0; d < 3; ++d) {
    x[d] = spans.x[d], y[d] = spans.y[d];
    const double a = cut_to(x[d], 10), b = cut_to(y[d], 10);
    sum[d] = cut_to(a + b, 10), less[d] = cut_to(a - b, 10);
  }
  Candidate longest{x, length(x)};
  const auto consider = [&longest](const Span& span, double size) {
    if (size > longest.length) longest = {span, size};
  };
  consider(y, length(y));
  if (!spans.together || !std::isfinite(longest.length)) return longest;
  for (Span* const span : {&sum, &less}) {
    const double size = eleven_sixteenths(length(*span));
    for (double& part : *span) part *= 11.0 / 16;
    consider(*span, size);
  }
  return longest;
}

}  // namespace

// Close to an H200's, but not equal. The shorter axis is the area over the longer one, at least a
// texel. There is one probe, or an even number of probes.
Ellipse ellipse_of(const Spans& spans, unsigned most_probes) {
  const Candidate longest = longest_of(spans);
  Ellipse e;
  e.level = logarithm(longest.length);
  if (most_probes <= 1 || !is_plain(longest.length)) return e;
  const double area = std::fabs(spans.x[0] * spans.y[1] - spans.x[1] * spans.y[0]);
  const double shorter = area / longest.length, most = most_probes;
  const double ratio = std::clamp(longest.length / std::max(shorter, 1.0), 1.0, most);
  if (!(ratio > 1)) return e;
  e.level = logarithm(longest.length / ratio);
  e.probes = std::min(2 * static_cast<unsigned>(std::ceil(ratio / 2)), most_probes);
  std::copy(longest.span.begin(), longest.span.end(), e.axis);
  return e;
}

}  // namespace inflight::texture
