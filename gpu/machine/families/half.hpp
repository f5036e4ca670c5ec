// f16 and bf16 values in the low 16 bits of a word, to and from float (PTX ISA 5.2.3).
#pragma once
#include "gpu/machine/families/real.hpp"
#include "gpu/numbers/small_floats.hpp"

namespace inflight::machine::INFLIGHT_ISA {

inline constexpr U32 half_nan_bits = numbers::F16::nan;  // and bf16's

struct F16 : numbers::F16 {
  static constexpr Type type = Type::f16, pair = Type::f16x2;
};
struct Bf16 : numbers::Bf16 {
  static constexpr Type type = Type::bf16, pair = Type::bf16x2;
};

// A subnormal becomes a zero of its sign.
template <class Format>
[[gnu::always_inline]] inline U32 flush_half(U32 h) {
  return pick((h & Format::infinity) != 0, h, h & 0x8000);
}
template <class Format>
[[gnu::always_inline]] inline bool half_is_nan(U32 h) {
  return (h & 0x7fff) > Format::infinity;
}

// Rounding to odd: `rounded` with the error `lost`. A later rounding to fewer bits then gives the
// result of a single rounding.
[[gnu::always_inline]] inline float odd(float rounded, float lost) {
  const U32 bits = to_bits(rounded);
  const bool away = (to_bits(lost) ^ bits) >> 31;
  const U32 r = (away ? bits - 1 : bits) | 1;
  return pick((lost == 0) | (lost != lost), rounded, from_bits<float>(r));
}
[[gnu::always_inline]] inline double odd(double rounded, double lost) {
  const U64 bits = to_bits(rounded);
  const bool away = (to_bits(lost) ^ bits) >> 63;
  const U64 r = (away ? bits - 1 : bits) | 1;
  return pick((lost == 0) | (lost != lost), rounded, from_bits<double>(r));
}
template <class T>
[[gnu::always_inline]] inline T sum_to_odd(T a, T b) {
  const T s = a + b, part = s - a;
  return odd(s, (a - (s - part)) + (b - part));
}
[[gnu::always_inline]] inline float narrow_to_odd(double x) {
  const float f = static_cast<float>(x);
  const U32 bits = to_bits(f);
  const double back = f, magnitude = from_bits<double>(to_bits(x) & ~(U64{1} << 63));
  const bool away = from_bits<double>(to_bits(back) & ~(U64{1} << 63)) > magnitude;
  const U32 r = (away ? bits - 1 : bits) | 1;
  return pick((back == x) | (x != x), f, from_bits<float>(r));
}

}  // namespace inflight::machine::INFLIGHT_ISA
