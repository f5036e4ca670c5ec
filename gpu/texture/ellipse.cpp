// Lengths and logarithms in few bits, like the hardware's.
#include "gpu/texture/ellipse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

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

// `v` times `factor`. The product of the significands, of which `v` has ten bits, is rounded to its
// bits above the `dropped` lowest.
double scaled(double v, int factor, int dropped) {
  if (!is_plain(v)) return v;
  const double step = std::ldexp(step_of(v, 10), dropped);
  return std::floor(v * factor / step + 0.5) * step;
}

// The sum of two lengths, each truncated to the tenth bit of the greater.
double sum_of_lengths(double a, double b) {
  const double greater = std::max(a, b);
  if (!is_plain(greater)) return greater;
  const double step = step_of(greater, 10);
  return (std::floor(a / step) + std::floor(b / step)) * step;
}

// The sum of two components of ten bits. The smaller is truncated to the greater's eleventh bit,
// and the result to ten.
double sum_of_components(double a, double b) {
  if (std::fabs(a) < std::fabs(b)) std::swap(a, b);
  if (!is_plain(a)) return a + b;
  const double step = step_of(a, 11);
  return cut_to(a + std::trunc(b / step) * step, 10);
}

using Span = std::array<double, 3>;

// The components' magnitudes in ten bits, the greatest first.
Span sorted(const Span& span) {
  Span sizes;
  std::transform(span.begin(), span.end(), sizes.begin(),
                 [](double each) { return cut_to(std::fabs(each), 10); });
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  return sizes;
}
// The greatest component plus 11/32 of the next and a quarter of the least.
double length(const Span& span) {
  const auto [most, next, least] = sorted(span);
  if (!is_plain(most)) return most;
  return sum_of_lengths(most, sum_of_lengths(scaled(next, 11, 3) / 32, least / 4));
}
// 11/16 of that. Each product is rounded once.
double shortened_length(const Span& span) {
  const auto [most, next, least] = sorted(span);
  if (!is_plain(most)) return most;
  return sum_of_lengths(cut_to(scaled(most, 11, 3) / 16, 10),
                        sum_of_lengths(scaled(next, 121, 6) / 512, scaled(least, 11, 3) / 64));
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

// The longest of four candidates: both spans, and 11/16 of their sum and of their difference. Equal
// to an H200's level of detail in all of 6,291,456 reads of lines, planes and volumes
// (tests/gpu/texture_levels.cu).
Candidate longest_of(const Spans& spans) {
  Span x{}, y{}, sum{}, less{};
  for (unsigned d = 0; d < 3; ++d) {
    x[d] = spans.x[d], y[d] = spans.y[d];
    const double a = cut_to(x[d], 10), b = cut_to(y[d], 10);
    sum[d] = sum_of_components(a, b), less[d] = sum_of_components(a, -b);
  }
  Candidate longest{x, length(x)};
  const auto consider = [&longest](const Span& span, double size) {
    if (size > longest.length) longest = {span, size};
  };
  consider(y, length(y));
  if (!spans.together || !std::isfinite(longest.length)) return longest;
  for (Span* const span : {&sum, &less}) {
    const double size = shortened_length(*span);
    for (double& part : *span) part *= 11.0 / 16;
    consider(*span, size);
  }
  return longest;
}

}  // namespace

// With several probes, close to an H200's, but not equal. The shorter axis is the area over the
// longer one, at least a texel. There is one probe, or an even number of probes.
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
