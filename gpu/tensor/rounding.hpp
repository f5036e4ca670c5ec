// Rounds sums of aligned terms from integers to f32 and f16. Included only by float_core.cpp.
#pragma once
#include "gpu/tensor/float_operands.hpp"

namespace inflight::tensor::INFLIGHT_ISA {

using Halves [[gnu::vector_size(2 * lanes)]] = std::uint16_t;

// Rounds to nearest even. A truncated value has its lowest bit set, so the result is rounded once.
#if defined __AVX512F__ || defined __F16C__
[[gnu::always_inline]] inline Bits to_f16(Floats value) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#  ifdef __AVX512F__
  const auto halves = _mm512_maskz_cvtps_ph(0xffff, as<__m512>(value), nearest);
#  else
  const auto halves = _mm256_cvtps_ph(as<__m256>(value), nearest);
#  endif
  return __builtin_convertvector(as<Halves>(halves), Bits);
}
[[gnu::always_inline]] inline Floats from_f16(Bits bits) {
  const auto halves = __builtin_convertvector(bits, Halves);
#  ifdef __AVX512F__
  return as<Floats>(_mm512_maskz_cvtph_ps(0xffff, as<__m256i>(halves)));
#  else
  return as<Floats>(_mm256_cvtph_ps(as<__m128i>(halves)));
#  endif
}
#else
[[gnu::always_inline]] inline Bits to_f16(Floats value) {
  const Bits bits = as<Bits>(value), magnitude = bits & 0x7fffffff;
  const Bits small = as<Bits>(as<Floats>(magnitude) + as<Floats>(Bits{} + 0x3f000000)) - 0x3f000000;
  const Bits normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112U << 23)) >> 13;
  const Ints is_small = as<Ints>(magnitude) < 0x38800000,
             is_large = as<Ints>(magnitude) >= 0x47800000;
  const Ints rounded =
      pick(is_large, Ints{} + 0x7c00, pick(is_small, as<Ints>(small), as<Ints>(normal)));
  return as<Bits>(rounded) | (bits >> 16 & 0x8000);
}
[[gnu::always_inline]] inline Floats from_f16(Bits bits) {
  const Decoded d = decode<Element::f16>(bits);
  const Ints infinite = as<Ints>((Bits{} + 0x7f800000) | (bits & 0x8000) << 16);
  return as<Floats>(pick(d.special, infinite, as<Ints>(d.value)));
}
#endif

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

// Returns the bits of a group's sum, total / scale, rounded to `Sum`.
template <Element Sum>
[[gnu::always_inline]] inline Bits rounded(const Plan& plan, Ints total, Floats scale) {
  const Floats unit = as<Floats>((Bits{} + (254U << 23)) - as<Bits>(scale));
  const Floats cut = cut_off(total);
  if constexpr (Sum == Element::f32) return as<Bits>(cut * unit) & plan.kept;
  const Ints odd = (truncated(cut) != total) & 1;
  const Bits h = to_f16(as<Floats>(as<Ints>(cut) | odd) * unit);
  return as<Bits>(pick(as<Ints>(h) == 0x8000, Ints{}, as<Ints>(h)));
}

}  // namespace inflight::tensor::INFLIGHT_ISA
