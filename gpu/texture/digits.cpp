// Truncates numbers to a few bits, and multiplies them like the hardware.
#include "gpu/texture/digits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace inflight::texture {

bool is_plain(double v) { return v != 0 && std::isfinite(v); }

double step_of(double v, int bits) { return std::ldexp(1.0, std::ilogb(v) + 1 - bits); }

double cut_to(double v, int bits) {
  if (!is_plain(v)) return v;
  const double step = step_of(v, bits);
  return std::trunc(v / step) * step;
}

double product(double a, double b) {
  constexpr int omitted = 6, digits = 10;
  a = cut_to(a, digits), b = cut_to(b, digits);
  if (!is_plain(a) || !is_plain(b)) return a * b;
  const auto significand = [](double v) {
    return static_cast<std::uint32_t>(std::ldexp(std::fabs(v), digits - 1 - std::ilogb(v)));
  };
  const std::uint32_t m = significand(a), n = significand(b);
  std::uint32_t sum = 7 << omitted;
  for (int bit = 0; bit < digits; ++bit)
    if (m >> bit & 1) sum += n << bit >> omitted << omitted;
  const int exponent = std::ilogb(a) + std::ilogb(b) - 2 * (digits - 1);
  return std::copysign(cut_to(std::ldexp(sum, exponent), digits), a * b);
}

double sum_of_lengths(double a, double b) {
  const double greater = std::max(a, b);
  if (!is_plain(greater)) return greater;
  const double step = step_of(greater, 10);
  return (std::floor(a / step) + std::floor(b / step)) * step;
}

double difference(float a, float b) {
  constexpr int bits = 25;
  const double most = std::max(std::fabs(a), std::fabs(b));
  if (!is_plain(most)) return double{a} - b;
  const double step = step_of(most, bits);
  return (std::trunc(a / step) - std::trunc(b / step)) * step;
}

}  // namespace inflight::texture
