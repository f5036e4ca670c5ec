// Floating-point results on the host, computed independently of the machine: the C library in each
// rounding direction, and long arithmetic for the narrow formats.
#pragma once
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "tests/unit/machine/arithmetic_runner.hpp"

namespace inflight::machine {

// Evaluates f with the processor's rounding direction (FE_TONEAREST...).
template <class F>
[[gnu::noinline]] auto rounded(int direction, F f) {
  std::fesetround(direction);
  const volatile auto r = f();
  std::fesetround(FE_TONEAREST);
  return static_cast<decltype(f())>(r);
}

inline u64 canonical(float x) { return std::isnan(x) ? 0x7fffffff : bits_of(x); }
inline u64 saturated_f32(float x) { return bits_of(x > 0 ? std::fmin(x, 1.0f) : 0.0f); }
inline float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

// A binary format of at most 16 bits.
struct Narrow {
  int exponent_bits, fraction_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  u64 infinity() const { return ((u64{1} << exponent_bits) - 1) << fraction_bits; }
  u64 sign() const { return u64{1} << (exponent_bits + fraction_bits); }
  bool is_nan(u64 bits) const { return (bits & (sign() - 1)) > infinity(); }
  double value(u64 bits) const {
    const u64 m = bits & (sign() - 1);
    const int e = static_cast<int>(m >> fraction_bits);
    const double f = static_cast<double>(m & ((u64{1} << fraction_bits) - 1));
    const double hidden = e ? std::ldexp(1.0, fraction_bits) : 0;
    const double magnitude = is_nan(bits) ? NAN
                             : m == infinity()
                                 ? INFINITY
                                 : std::ldexp(f + hidden, (e ? e : 1) - bias() - fraction_bits);
    return bits & sign() ? -magnitude : magnitude;
  }
  // Rounds a number that long double holds exactly, in a given direction.
  u64 round(long double x, int direction) const {
    if (std::isnan(x)) return 0x7fff;
    const u64 s = std::signbit(x) ? sign() : 0;
    if (std::isinf(x)) return infinity() | s;
    if (x == 0) return s;
    const int e = std::max(std::ilogb(x), 1 - bias());
    const long double unit = std::ldexp(1.0L, e - fraction_bits);
    std::fesetround(direction);
    const volatile long double steps = std::nearbyint(x / unit);
    std::fesetround(FE_TONEAREST);
    const long double m = std::fabs(steps * unit);
    const long double past = std::ldexp(2.0L, bias());
    if (m >= past) {
      const bool away = direction == FE_TONEAREST || direction == (s ? FE_DOWNWARD : FE_UPWARD);
      return (infinity() - !away) | s;
    }
    if (m == 0) return s;
    const int me = std::max(std::ilogb(m), 1 - bias());
    const u64 f = static_cast<u64>(std::ldexp(m, fraction_bits - me));
    return (f + (static_cast<u64>(me + bias() - 1) << fraction_bits)) | s;
  }
  u64 flush(u64 bits) const { return bits & infinity() ? bits : bits & sign(); }
};
inline constexpr Narrow f16{5, 10}, bf16{8, 7};

// a * b + c as a long double, on the correct side of every halfway point of the narrow formats.
inline long double sum_of_product(double a, double b, double c) {
  const __float128 product = static_cast<__float128>(a) * b;
  const __float128 sum = product + c;
  const __float128 part = sum - product;
  const __float128 lost = (product - (sum - part)) + (c - part);
  const long double r = static_cast<long double>(sum);
  if (!std::isfinite(r)) return r;
  const __float128 rest = (sum - static_cast<__float128>(r)) + lost;
  if (rest == 0) return r;
  // Rounds to odd: takes the neighbour that cannot be a halfway point.
  const long double other = std::nextafter(r, rest > 0 ? INFINITY : -INFINITY);
  int exponent;
  const bool is_odd = static_cast<u64>(std::ldexp(std::fabs(std::frexp(r, &exponent)), 64)) & 1;
  return is_odd ? r : other;
}

}  // namespace inflight::machine
