// f16 and bf16 values as the low 16 bits of a word, to and from float (PTX ISA 5.2.3).
#pragma once
#include "gpu/machine/families/real.hpp"

namespace inflight::machine::INFLIGHT_ISA {

inline constexpr U32 half_nan_bits = 0x7fff;  // the canonical NaN of f16 and of bf16

// 1 sign bit, 5 exponent bits, 10 fraction bits.
struct F16 {
  static constexpr Type type = Type::f16, pair = Type::f16x2;
  static constexpr U32 infinity = 0x7c00, one = 0x3c00;
  [[gnu::always_inline]] static float value(U32 h) {
    const U32 magnitude = (h & 0x7fff) << 13;
    const U32 scaled = to_bits(from_bits<float>(magnitude) * 0x1p112f);
    const U32 bits = (h & infinity) == infinity ? magnitude | 0x7f800000 : scaled;
    return from_bits<float>(bits | (h & 0x8000) << 16);
  }
  // To nearest even.
  [[gnu::always_inline]] static U32 round(float x) {
    const U32 bits = to_bits(x), m = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    const U32 rebased = m - (112u << 23);
    const U32 normal = (rebased + 0xfff + (rebased >> 13 & 1)) >> 13;
    const U32 tiny = to_bits(from_bits<float>(m) + 0.5f) - to_bits(0.5f);
    const U32 finite = pick(m < 0x38800000, tiny, normal);
    const U32 r = pick(m >= 0x47800000, infinity, finite) | sign;
    return pick(m > 0x7f800000, half_nan_bits, r);
  }
};

// 1 sign bit, 8 exponent bits, 7 fraction bits: the high half of a float.
struct Bf16 {
  static constexpr Type type = Type::bf16, pair = Type::bf16x2;
  static constexpr U32 infinity = 0x7f80, one = 0x3f80;
  [[gnu::always_inline]] static float value(U32 h) { return from_bits<float>(h << 16); }
  [[gnu::always_inline]] static U32 round(float x) {
    const U32 bits = to_bits(x);
    const U32 r = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return pick((bits & 0x7fffffff) > 0x7f800000, half_nan_bits, r);
  }
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

// Round to odd: what is rounded later sees that something was lost, so that two roundings are one.
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
