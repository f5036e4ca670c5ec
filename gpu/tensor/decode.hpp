// Decodes elements for the cores: the value as a float, and the exponent for its alignment.
#pragma once
#include "gpu/tensor/vector.hpp"

namespace inflight::tensor::INFLIGHT_ISA {

constexpr std::int32_t no_exponent = -1000;  // of a zero, which never decides the alignment

struct Decoded {
  Floats value;
  Ints exponent;
  Ints special;  // infinite or NaN
};

// Makes the lanes of `special` infinite, or NaN if their fraction is not zero.
[[gnu::always_inline]] inline void mark(Decoded& d, Ints special, Bits fraction, Bits sign) {
  const Ints nan = (as<Ints>(fraction) != 0) & 0x00400000;
  const Ints value = as<Ints>(sign) | 0x7f800000 | nan;
  d.special = special;
  d.value = as<Floats>(pick(special, value, as<Ints>(d.value)));
}

template <Element E>
constexpr Format format_of = formats[static_cast<int>(E)];

// An element's bits without the sign, in its format, and the sign at the place where f32 has it.
struct Parts {
  Bits magnitude, sign;
};
template <Element E>
[[gnu::always_inline]] inline Parts parts_of(Bits raw) {
  if constexpr (E == Element::f16 || E == Element::bf16) {
    return {raw & 0x7fff, (raw & 0x8000) << 16};
  } else if constexpr (E == Element::tf32) {
    return {raw >> 13 & 0x3ffff, raw & 0x80000000};
  } else if constexpr (E == Element::f32) {
    return {raw & 0x7fffffff, raw & 0x80000000};
  } else {
    constexpr int sign = format_of<E>.exponent + format_of<E>.fraction;
    return {raw & ((1U << sign) - 1), (raw & (1U << sign)) << (31 - sign)};
  }
}

// The least magnitude that is infinite or NaN.
template <Element E>
constexpr std::uint32_t least_special =
    !format_of<E>.has_nan       ? 1U << (format_of<E>.exponent + format_of<E>.fraction)
    : format_of<E>.has_infinity ? ((1U << format_of<E>.exponent) - 1) << format_of<E>.fraction
                                : (1U << (format_of<E>.exponent + format_of<E>.fraction)) - 1;

// The exponent of a nonzero magnitude.
template <Element E>
[[gnu::always_inline]] inline Ints exponent_of_magnitude(Bits magnitude) {
  return larger(as<Ints>(magnitude >> format_of<E>.fraction), Ints{} + 1) - format_of<E>.bias();
}

// Decodes a finite element. Its magnitude differs from a float's only in the width of the exponent,
// so a shift and a product with a power of two convert it.
template <Element E>
[[gnu::always_inline]] inline Decoded finite(const Parts& parts) {
  constexpr Format f = format_of<E>;
  const Bits shifted = parts.magnitude << (23 - f.fraction);
  Decoded d;
  if constexpr (f.exponent == 8) {
    d.value = as<Floats>(shifted | parts.sign);
  } else {
    constexpr float power = __builtin_bit_cast(float, (254 - f.bias()) << 23);
    d.value = as<Floats>(as<Bits>(as<Floats>(shifted) * power) | parts.sign);
  }
  d.exponent = pick(as<Ints>(parts.magnitude) == 0, Ints{} + no_exponent,
                    exponent_of_magnitude<E>(parts.magnitude));
  d.special = Ints{};
  return d;
}

// The exponent of a value that is normal in f32, but at least `least`.
[[gnu::always_inline]] inline Ints exponent_of(Floats value, std::int32_t least) {
  const Bits magnitude = as<Bits>(value) & 0x7fffffff;
  const Ints exponent = larger(as<Ints>(magnitude >> 23) - 127, Ints{} + least);
  return pick(as<Ints>(magnitude) == 0, Ints{} + no_exponent, exponent);
}

template <Element E>
[[gnu::always_inline]] inline Decoded decode(Bits raw) {
  constexpr Format f = format_of<E>;
  const Parts parts = parts_of<E>(raw);
  Decoded d = finite<E>(parts);
  const Bits fraction = f.has_infinity ? parts.magnitude << (32 - f.fraction) : raw;
  mark(d, as<Ints>(parts.magnitude) >= static_cast<std::int32_t>(least_special<E>), fraction,
       parts.sign);
  return d;
}

}  // namespace inflight::tensor::INFLIGHT_ISA
