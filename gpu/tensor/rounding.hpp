// Rounds sums of aligned terms from integers to f32 and f16. Included only by files that are
// compiled once for each instruction set.
#pragma once
#include "gpu/tensor/float_operands.hpp"

namespace inflight::tensor::INFLIGHT_ISA {

using Halves [[gnu::vector_size(2 * lanes)]] = std::uint16_t;

// Rounds to nearest even, as numbers::F16::round does with all but NaN. A truncated value has its
// lowest bit set, so the result is rounded once.
#if defined __AVX512F__ || defined __F16C__
[[gnu::always_inline]] inline Halves to_halves(Floats value) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#  ifdef __AVX512F__
  return as<Halves>(_mm512_maskz_cvtps_ph(0xffff, as<__m512>(value), nearest));
#  else
  return as<Halves>(_mm256_cvtps_ph(as<__m256>(value), nearest));
#  endif
}
[[gnu::always_inline]] inline Floats from_halves(Halves halves) {
#  ifdef __AVX512F__
  return as<Floats>(_mm512_maskz_cvtph_ps(0xffff, as<__m256i>(halves)));
#  else
  return as<Floats>(_mm256_cvtph_ps(as<__m128i>(halves)));
#  endif
}
#else
[[gnu::always_inline]] inline Halves to_halves(Floats value) {
  const Bits bits = as<Bits>(value), magnitude = bits & 0x7fffffff;
  const Bits small = as<Bits>(as<Floats>(magnitude) + as<Floats>(Bits{} + 0x3f000000)) - 0x3f000000;
  const Bits normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112U << 23)) >> 13;
  const Ints is_small = as<Ints>(magnitude) < 0x38800000,
             is_large = as<Ints>(magnitude) >= 0x47800000;
  const Ints rounded =
      pick(is_large, Ints{} + 0x7c00, pick(is_small, as<Ints>(small), as<Ints>(normal)));
  return __builtin_convertvector(as<Bits>(rounded) | (bits >> 16 & 0x8000), Halves);
}
[[gnu::always_inline]] inline Floats from_halves(Halves halves) {
  const Bits bits = __builtin_convertvector(halves, Bits);
  const Decoded d = decode<Element::f16>(bits);
  const Ints infinite = as<Ints>((Bits{} + 0x7f800000) | (bits & 0x8000) << 16);
  return as<Floats>(pick(d.special, infinite, as<Ints>(d.value)));
}
#endif
[[gnu::always_inline]] inline Bits to_f16(Floats value) {
  return __builtin_convertvector(to_halves(value), Bits);
}
[[gnu::always_inline]] inline Floats from_f16(Bits bits) {
  return from_halves(__builtin_convertvector(bits, Halves));
}

// Converts towards zero.
[[gnu::always_inline]] inline Floats cut_off(Ints v) {
#ifdef __AVX512F__
  return as<Floats>(_mm512_maskz_cvt_roundepi32_ps(0xffff, as<__m512i>(v),
                                                   _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#else
  const Floats nearest = to_floats(v);
  const Ints back = truncated(nearest);
  const auto size = [](Ints x) { return x < 0 ? -as<Bits>(x) : as<Bits>(x); };
  return as<Floats>(as<Bits>(nearest) +
                    as<Bits>(size(back) > size(v)));  // subtracts one unit where it is larger
#endif
}

// Returns x + y. Marks lanes that overflow in `bad`.
[[gnu::always_inline]] inline Ints fitting_sum(Ints x, Ints y, Ints& bad) {
  const Ints sum = as<Ints>(as<Bits>(x) + as<Bits>(y));
  bad |= (x ^ sum) & (y ^ sum);
  return sum;
}

// A group's sum is its total times the unit, 1 / scale.
[[gnu::always_inline]] inline Floats unit_of(Floats scale) {
  return as<Floats>((Bits{} + (254U << 23)) - as<Bits>(scale));
}
// The sum rounded to f16. A sum that rounds to zero is positive.
[[gnu::always_inline]] inline Halves rounded_halves(Ints total, Floats scale) {
  const Floats cut = cut_off(total);
  const Ints odd = (truncated(cut) != total) & 1;
  const Halves h = to_halves(as<Floats>(as<Ints>(cut) | odd) * unit_of(scale));
  return h & ~as<Halves>(h == 0x8000);
}
// The bits of the sum, rounded to `Sum`.
template <Element Sum>
[[gnu::always_inline]] inline Bits rounded(const Plan& plan, Ints total, Floats scale) {
  if constexpr (Sum == Element::f16)
    return __builtin_convertvector(rounded_halves(total, scale), Bits);
  return as<Bits>(cut_off(total) * unit_of(scale)) & plan.kept;
}

}  // namespace inflight::tensor::INFLIGHT_ISA
