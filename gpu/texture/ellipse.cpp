// Lengths and logarithms in few bits, like the hardware's.
#include "gpu/texture/ellipse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "gpu/texture/axis.hpp"
#include "gpu/texture/digits.hpp"

namespace inflight::texture {
namespace {

// `v` times `factor`. The product of the significands, of which `v` has ten bits, is rounded to its
// bits above the `dropped` lowest.
double scaled(double v, int factor, int dropped) {
  if (!is_plain(v)) return v;
  const double step = std::ldexp(step_of(v, 10), dropped);
  return std::floor(v * factor / step + 0.5) * step;
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
  return cut_to(sum_of_lengths(most, sum_of_lengths(scaled(next, 11, 3) / 32, least / 4)), 10);
}
// 11/16 of that. Each product is rounded once.
double shortened_length(const Span& span) {
  const auto [most, next, least] = sorted(span);
  if (!is_plain(most)) return most;
  const double others = sum_of_lengths(scaled(next, 121, 6) / 512, scaled(least, 11, 3) / 64);
  return cut_to(sum_of_lengths(cut_to(scaled(most, 11, 3) / 16, 10), others), 10);
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

Span shortened(const Span& span) {
  Span out;
  std::transform(span.begin(), span.end(), out.begin(), [](double part) {
    return std::copysign(cut_to(scaled(std::fabs(part), 11, 3) / 16, 10), part);
  });
  return out;
}

// The longest of four candidates: both spans, and 11/16 of their sum and of their difference. Equal
// to an H200's level of detail in all of 6,291,456 reads of lines, planes and volumes
// (tests/gpu/texture_levels.cu). Of equal ones, the chip takes x before the sum, the sum before y,
// and y before the difference. The difference points along the longer span.
Candidate longest_of(const Spans& spans) {
  Span x{}, y{}, sum{}, less{};
  for (unsigned d = 0; d < 3; ++d) {
    x[d] = spans.x[d], y[d] = spans.y[d];
    const double a = cut_to(x[d], 10), b = cut_to(y[d], 10);
    sum[d] = sum_of_components(a, b), less[d] = sum_of_components(a, -b);
  }
  Candidate longest{x, length(x)};
  const Candidate other{y, length(y)};
  const bool all = spans.together && std::isfinite(std::max(longest.length, other.length));
  const bool y_is_longer = other.length >= longest.length;
  const auto consider = [&longest](const Candidate& candidate) {
    if (candidate.length > longest.length) longest = candidate;
  };
  if (all) consider({shortened(sum), shortened_length(sum)});
  consider(other);
  if (!all) return longest;
  if (y_is_longer)
    for (double& part : less) part = -part;
  consider({shortened(less), shortened_length(less)});
  return longest;
}

// The area of the parallelogram between the spans.
double area_of(const Spans& spans) {
  return std::fabs(
      sum_of_components(product(spans.x[0], spans.y[1]), -product(spans.x[1], spans.y[0])));
}

// The logarithm of the greatest ratio of the axes, in 256ths. The hardware has few such ratios, in
// 16ths of an octave.
int greatest_ratio(unsigned most_probes) {
  const unsigned known = most_probes >= 16 ? 16 : std::min(most_probes, 12u) & ~1u;
  return static_cast<int>(std::log2(known) * 16) * 16;
}

// Points along an axis, with a length of 64. The direction is known in few bits: the greater
// component in four, and the smaller in steps of the same size. Each is taken in the middle of its
// step. A component below a 32nd of the greater one's power of two is 0.
void point_along(const Span& axis, int (&step)[2]) {
  const double most = std::max(std::fabs(axis[0]), std::fabs(axis[1]));
  if (!is_plain(most)) return;
  double parts[2];
  for (unsigned d = 0; d < 2; ++d) {
    const double steps = std::ldexp(std::fabs(axis[d]), 3 - std::ilogb(most));
    parts[d] = steps < 0.25 ? 0 : std::floor(steps) + 0.5;
  }
  const double size = std::hypot(parts[0], parts[1]);
  for (unsigned d = 0; d < 2; ++d)
    step[d] = static_cast<int>(std::copysign(std::floor(parts[d] / size * 64 + 0.5), axis[d]));
}

}  // namespace

// The shorter axis is the area over the longer one. The hardware divides by subtracting logarithms.
// Equal to an H100 in all reads of tests/gpu/texture_anisotropy.cu.
Ellipse ellipse_of(const Spans& spans, unsigned most_probes) {
  const Candidate longest = longest_of(spans);
  Ellipse e;
  e.level = logarithm(longest.length);
  if (most_probes <= 1 || !is_plain(longest.length)) return e;
  const double area = area_of(spans);
  const int most = greatest_ratio(most_probes);
  const double ratio = area > 0 ? (2 * e.level - logarithm(area)) * whole : most;
  e.ratio = static_cast<int>(std::clamp<double>(ratio, 0, most));
  e.level -= e.ratio / double{whole};
  point_along(longest.span, e.step);
  return e;
}

}  // namespace inflight::texture
