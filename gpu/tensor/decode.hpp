// Elements as the cores have them: a float's value and the exponent that it is aligned by.
#pragma once
#include "gpu/tensor/vector.hpp"

namespace inflight::tensor::INFLIGHT_ISA {

constexpr std::int32_t no_exponent = -1000;  // of a zero, which nothing is aligned to

struct Decoded {
  Floats value;
  Ints exponent;
  Ints special;  // infinite or NaN
};

// The lanes of `special` are infinite, or NaN where they have a fraction.
[[gnu::always_inline]] inline void mark(Decoded& d, Ints special, Bits fraction, Bits sign) {
  const Ints nan = (as<Ints>(fraction) != 0) & 0x00400000;
  const Ints value = as<Ints>(sign) | 0x7f800000 | nan;
  d.special = special;
  d.value = as<Floats>(pick(special, value, as<Ints>(d.value)));
}

// From a format's sign, exponent and fraction, where they are a float's but for the width of the
// exponent: `magnitude` << `shift`, times a power of two.
template <int ExponentBits, int FractionBits, bool HasInfinity = true>
[[gnu::always_inline]] inline Decoded decoded(Bits magnitude, Bits sign) {
  constexpr std::int32_t bias = (1 << (ExponentBits - 1)) - 1, ones = (1 << ExponentBits) - 1;
  const Ints exponent = as<Ints>(magnitude >> FractionBits);
  const Bits shifted = magnitude << (23 - FractionBits);
  Decoded d;
  if constexpr (ExponentBits == 8) {
    d.value = as<Floats>(shifted | sign);
  } else {
    constexpr float power = __builtin_bit_cast(float, (254 - bias) << 23);
    d.value = as<Floats>(as<Bits>(as<Floats>(shifted) * power) | sign);
  }
  d.exponent = larger(exponent, Ints{} + 1) - bias;
  d.exponent = pick(as<Ints>(magnitude) == 0, Ints{} + no_exponent, d.exponent);
  if constexpr (HasInfinity) mark(d, exponent == ones, magnitude << (32 - FractionBits), sign);
  return d;
}

// A value's exponent where it is normal in f32.
[[gnu::always_inline]] inline Ints exponent_of(Floats value, std::int32_t least) {
  const Bits magnitude = as<Bits>(value) & 0x7fffffff;
  const Ints exponent = larger(as<Ints>(magnitude >> 23) - 127, Ints{} + least);
  return pick(as<Ints>(magnitude) == 0, Ints{} + no_exponent, exponent);
}

template <Element E>
[[gnu::always_inline]] inline Decoded decode(Bits raw) {
  if constexpr (E == Element::f16) {
    return decoded<5, 10>(raw & 0x7fff, (raw & 0x8000) << 16);
  } else if constexpr (E == Element::bf16) {
    return decoded<8, 7>(raw & 0x7fff, (raw & 0x8000) << 16);
  } else if constexpr (E == Element::tf32) {
    return decoded<8, 10>(raw >> 13 & 0x3ffff, raw & 0x80000000);
  } else if constexpr (E == Element::f32) {
    return decoded<8, 23>(raw & 0x7fffffff, raw & 0x80000000);
  } else if constexpr (E == Element::e5m2) {
    return decoded<5, 2>(raw & 0x7f, (raw & 0x80) << 24);
  } else {
    Decoded d = decoded<4, 3, false>(raw & 0x7f, (raw & 0x80) << 24);
    mark(d, as<Ints>(raw & 0x7f) == 0x7f, raw, (raw & 0x80) << 24);
    return d;
  }
}

}  // namespace inflight::tensor::INFLIGHT_ISA
