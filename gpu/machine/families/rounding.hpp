// Rounds a double to any narrower binary format, in any direction, with integer arithmetic only.
#pragma once
#include "gpu/machine/families/half.hpp"

namespace inflight::machine::INFLIGHT_ISA {

// The bits of |x| in a format of E exponent and M fraction bits. A too large exponent gives a value
// above the format's infinity. R: rn, rna (ties away), rz, rm or rp.
template <int E, int M, Mod R>
U64 rounded_magnitude(U64 bits) {
  constexpr S32 least_exponent =
      1023 + 1 - ((1 << (E - 1)) - 1);  // of a normal result, biased 1023
  const U64 magnitude = bits & 0x7fffffffffffffff;
  const bool negative = bits >> 63;
  const S32 field = static_cast<S32>(magnitude >> 52);
  const S32 exponent = field > least_exponent ? field : least_exponent;
  const U64 significand = (magnitude & 0x000fffffffffffff) | (field != 0 ? U64{1} << 52 : U64{0});
  const S32 wanted = 52 - M + exponent - field;
  const S32 shift = wanted < 54 ? wanted : 54;
  const U64 kept = significand >> shift, lost = significand & ((U64{1} << shift) - 1);
  const U64 half = U64{1} << (shift - 1);
  bool up = false;
  if (R == Mod::rn) up = lost > half || (lost == half && (kept & 1));
  if (R == Mod::rna) up = lost >= half;
  if (R == Mod::rm) up = negative && lost != 0;
  if (R == Mod::rp) up = !negative && lost != 0;
  return kept + up + (static_cast<U64>(exponent - least_exponent) << M);
}

// An overflow gives infinity, or the greatest finite value if the direction is away from infinity.
template <class Format, int E, int M, Mod R>
U32 round_half(double x) {
  const U64 bits = to_bits(x);
  const bool negative = bits >> 63, nan = (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
  const bool infinite = (bits & 0x7fffffffffffffff) == 0x7ff0000000000000;
  const U64 m = rounded_magnitude<E, M, R>(bits);
  const bool stays = R == Mod::rz || (R == Mod::rm && !negative) || (R == Mod::rp && negative);
  const U32 over = stays && !infinite ? Format::infinity - 1 : Format::infinity;
  const U32 r = m >= Format::infinity ? over : static_cast<U32>(m);
  return nan ? half_nan_bits : r | (negative ? 0x8000 : 0);
}
template <class Format, Mod R>
struct RoundHalf;
template <Mod R>
struct RoundHalf<F16, R> {
  static U32 of(double x) { return round_half<F16, 5, 10, R>(x); }
};
template <Mod R>
struct RoundHalf<Bf16, R> {
  static U32 of(double x) { return round_half<Bf16, 8, 7, R>(x); }
};

// The effect of .sat, .relu and .satfinite on a result.
enum class Clamp { none, sat, relu, finite, finite_relu };
template <class Format, Clamp C>
[[gnu::always_inline]] inline U32 clamp_half(U32 h) {
  const bool negative = h & 0x8000, nan = half_is_nan<Format>(h);
  if (C == Clamp::sat) return pick(negative | nan, U32{0}, h > Format::one ? Format::one : h);
  const bool finite = C == Clamp::finite || C == Clamp::finite_relu;
  const U32 kept = finite ? h - ((h & 0x7fff) == Format::infinity) : h;
  const bool relu = C == Clamp::relu || C == Clamp::finite_relu;
  return relu ? pick(negative & !nan, U32{0}, kept) : kept;
}

}  // namespace inflight::machine::INFLIGHT_ISA
