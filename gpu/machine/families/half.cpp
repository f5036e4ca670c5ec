// Arithmetic on f16 and bf16 and on pairs of them (PTX ISA 9.7.4).
#include "gpu/machine/families/rounding.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;

// Operations in float, whose result is then rounded to the format. Rounding twice is harmless for
// sums and exact products; the other results are rounded to odd.
template <class Format>
struct HalfAdd {
  static float of(float a, float b) { return a + b; }
};
template <class Format>
struct HalfSub {
  static float of(float a, float b) { return a - b; }
};
// A product of two f16 is exact in float. One of two bf16 may be too small for a float.
template <class Format>
struct HalfMul;
template <>
struct HalfMul<F16> {
  static float of(float a, float b) { return a * b; }
};
template <>
struct HalfMul<Bf16> {
  static float of(float a, float b) { return narrow_to_odd(double{a} * b); }
};
template <class Format>
struct HalfFma;
template <>
struct HalfFma<F16> {
  static float of(float a, float b, float c) { return sum_to_odd(a * b, c); }
};
template <>
struct HalfFma<Bf16> {
  static float of(float a, float b, float c) {
    return narrow_to_odd(sum_to_odd(double{a} * b, double{c}));
  }
};

template <class Format, bool Ftz>
[[gnu::always_inline]] inline float half_in(U32 h) {
  return Format::value(Ftz ? flush_half<Format>(h) : h);
}
// .ftz, which only f16 has: flushes if x, rounded with an unbounded exponent range, is subnormal.
[[gnu::always_inline]] inline U32 flush_tiny(float x, U32 rounded) {
  const float magnitude = from_bits<float>(to_bits(x) & 0x7fffffff);
  return pick(magnitude < 0x1p-14f - 0x1p-26f, rounded & 0x8000, rounded);
}
template <class Format, template <class> class F, bool Ftz, Clamp C>
struct HalfOp {
  template <class... A>
  [[gnu::always_inline]] U32 operator()(A... a) const {
    const float x = F<Format>::of(half_in<Format, Ftz>(a)...);
    const U32 r = Format::round(x);
    return clamp_half<Format, C>(Ftz ? flush_tiny(x, r) : r);
  }
};

// --- rows for a half and a pair ---

template <int Sources, class F>
constexpr Handler on_halves = lanewise<Sources, U16, F>;
template <int Sources, class F>
constexpr Handler on_pairs = lanewise<Sources, U32, Both<F>>;
template <Opcode O, int Sources, class Format, class Mods, class F>
void both_rows(Rows& rows) {
  static constexpr Row table[] = {
      uniform_row<Sources>(O, Format::type, Mods::set, on_halves<Sources, F>),
      uniform_row<Sources>(O, Format::pair, Mods::set, on_pairs<Sources, F>)};
  add_rows(rows, table);
}
template <Opcode O, template <class> class F, Mod... Rn>
void sum_rows(Rows& rows) {
  using enum Mod;
  both_rows<O, 2, F16, With<Rn...>, HalfOp<F16, F, false, Clamp::none>>(rows);
  both_rows<O, 2, F16, With<Rn..., ftz>, HalfOp<F16, F, true, Clamp::none>>(rows);
  both_rows<O, 2, F16, With<Rn..., sat>, HalfOp<F16, F, false, Clamp::sat>>(rows);
  both_rows<O, 2, F16, With<Rn..., ftz, sat>, HalfOp<F16, F, true, Clamp::sat>>(rows);
  both_rows<O, 2, Bf16, With<Rn...>, HalfOp<Bf16, F, false, Clamp::none>>(rows);
}
// .oob: the result is zero if a factor is the value that a tensor copy fills in for out-of-bounds
// elements, of either sign (measured on an H200), for any addend.
template <class Format, Clamp C>
struct HalfFmaOob {
  [[gnu::always_inline]] U32 operator()(U32 a, U32 b, U32 c) const {
    const bool outside = is_outside(a) | is_outside(b);
    return pick(outside, 0u, HalfOp<Format, HalfFma, false, C>{}(a, b, c));
  }

 private:
  [[gnu::always_inline]] static bool is_outside(U32 h) {
    return (h & 0x7fff) == numbers::out_of_bounds_half;
  }
};

void fma_rows(Rows& rows) {
  using enum Mod;
  both_rows<fma, 3, F16, With<rn, oob>, HalfFmaOob<F16, Clamp::none>>(rows);
  both_rows<fma, 3, F16, With<rn, oob, relu>, HalfFmaOob<F16, Clamp::relu>>(rows);
  both_rows<fma, 3, Bf16, With<rn, oob>, HalfFmaOob<Bf16, Clamp::none>>(rows);
  both_rows<fma, 3, Bf16, With<rn, oob, relu>, HalfFmaOob<Bf16, Clamp::relu>>(rows);
  both_rows<fma, 3, F16, With<rn>, HalfOp<F16, HalfFma, false, Clamp::none>>(rows);
  both_rows<fma, 3, F16, With<rn, ftz>, HalfOp<F16, HalfFma, true, Clamp::none>>(rows);
  both_rows<fma, 3, F16, With<rn, sat>, HalfOp<F16, HalfFma, false, Clamp::sat>>(rows);
  both_rows<fma, 3, F16, With<rn, ftz, sat>, HalfOp<F16, HalfFma, true, Clamp::sat>>(rows);
  both_rows<fma, 3, F16, With<rn, relu>, HalfOp<F16, HalfFma, false, Clamp::relu>>(rows);
  both_rows<fma, 3, F16, With<rn, ftz, relu>, HalfOp<F16, HalfFma, true, Clamp::relu>>(rows);
  both_rows<fma, 3, Bf16, With<rn>, HalfOp<Bf16, HalfFma, false, Clamp::none>>(rows);
  both_rows<fma, 3, Bf16, With<rn, relu>, HalfOp<Bf16, HalfFma, false, Clamp::relu>>(rows);
}

// The sums of contractions (instruction/contraction.hpp), with negated terms. No result has a NaN's
// sign.
template <class F, U32 Product, U32 Addend>
struct HalfSigned {
  [[gnu::always_inline]] U32 operator()(U32 a, U32 b, U32 c) const {
    return F{}(a ^ Product, b, c ^ Addend);
  }
};
template <bool MinusProduct, bool MinusAddend, Mod... Signs>
void contraction_rows(Rows& rows) {
  using enum Mod;
  constexpr U32 product = MinusProduct ? 0x8000 : 0, addend = MinusAddend ? 0x8000 : 0;
  both_rows<fma, 3, F16, With<rn, Signs...>,
            HalfSigned<HalfOp<F16, HalfFma, false, Clamp::none>, product, addend>>(rows);
  both_rows<fma, 3, F16, With<rn, ftz, Signs...>,
            HalfSigned<HalfOp<F16, HalfFma, true, Clamp::none>, product, addend>>(rows);
  both_rows<fma, 3, F16, With<rn, sat, Signs...>,
            HalfSigned<HalfOp<F16, HalfFma, false, Clamp::sat>, product, addend>>(rows);
  both_rows<fma, 3, F16, With<rn, ftz, sat, Signs...>,
            HalfSigned<HalfOp<F16, HalfFma, true, Clamp::sat>, product, addend>>(rows);
  both_rows<fma, 3, Bf16, With<rn, Signs...>,
            HalfSigned<HalfOp<Bf16, HalfFma, false, Clamp::none>, product, addend>>(rows);
}

// --- minima and maxima: on magnitudes ordered as integers (PTX ISA, "min") ---

// A half as an integer in the same order, -0 below +0.
[[gnu::always_inline]] inline S32 rank(U32 h) {
  const S32 negative = static_cast<S32>(0 - (h >> 15 & 1));
  return static_cast<S32>(h & 0x7fff) ^ negative;
}
struct LesserHalf {
  static U32 of(U32 a, U32 b) { return pick(rank(b) < rank(a), b, a); }
};
struct GreaterHalf {
  static U32 of(U32 a, U32 b) { return pick(rank(a) < rank(b), b, a); }
};
template <class Format, class F, bool Ftz, bool Nan, bool Xorsign>
struct HalfExtreme {
  [[gnu::always_inline]] U32 operator()(U32 a, U32 b) const {
    if (Ftz) a = flush_half<Format>(a), b = flush_half<Format>(b);
    const U32 sign = (a ^ b) & 0x8000;
    if (!Xorsign) return of(a, b);
    const U32 r = of(a & 0x7fff, b & 0x7fff);
    return pick(half_is_nan<Format>(r), r, r | sign);
  }

 private:
  [[gnu::always_inline]] static U32 of(U32 a, U32 b) {
    const bool x = half_is_nan<Format>(a), y = half_is_nan<Format>(b);
    const U32 chosen = pick(x, b, pick(y, a, F::of(a, b)));
    return pick(Nan ? x | y : x & y, half_nan_bits, chosen);
  }
};
template <Opcode O, class F>
void extreme_rows(Rows& rows) {
  using enum Mod;
  using X = With<xorsign, Mod::abs>;
  both_rows<O, 2, F16, With<>, HalfExtreme<F16, F, false, false, false>>(rows);
  both_rows<O, 2, F16, With<ftz>, HalfExtreme<F16, F, true, false, false>>(rows);
  both_rows<O, 2, F16, With<NaN>, HalfExtreme<F16, F, false, true, false>>(rows);
  both_rows<O, 2, F16, With<ftz, NaN>, HalfExtreme<F16, F, true, true, false>>(rows);
  both_rows<O, 2, F16, X, HalfExtreme<F16, F, false, false, true>>(rows);
  both_rows<O, 2, F16, With<ftz, xorsign, Mod::abs>, HalfExtreme<F16, F, true, false, true>>(rows);
  both_rows<O, 2, F16, With<NaN, xorsign, Mod::abs>, HalfExtreme<F16, F, false, true, true>>(rows);
  both_rows<O, 2, F16, With<ftz, NaN, xorsign, Mod::abs>, HalfExtreme<F16, F, true, true, true>>(
      rows);
  both_rows<O, 2, Bf16, With<>, HalfExtreme<Bf16, F, false, false, false>>(rows);
  both_rows<O, 2, Bf16, With<NaN>, HalfExtreme<Bf16, F, false, true, false>>(rows);
  both_rows<O, 2, Bf16, X, HalfExtreme<Bf16, F, false, false, true>>(rows);
  both_rows<O, 2, Bf16, With<NaN, xorsign, Mod::abs>, HalfExtreme<Bf16, F, false, true, true>>(
      rows);
}

// --- signs: a NaN becomes canonical, as on an H200 ---

template <class Format, bool Ftz>
struct HalfAbs {
  U32 operator()(U32 a) const {
    const U32 r = (Ftz ? flush_half<Format>(a) : a) & 0x7fff;
    return pick(half_is_nan<Format>(a), half_nan_bits, r);
  }
};
template <class Format, bool Ftz>
struct HalfNeg {
  U32 operator()(U32 a) const {
    const U32 r = (Ftz ? flush_half<Format>(a) : a) ^ 0x8000;
    return pick(half_is_nan<Format>(a), half_nan_bits, r);
  }
};
template <Opcode O, template <class, bool> class F>
void sign_rows(Rows& rows) {
  both_rows<O, 1, F16, With<>, F<F16, false>>(rows);
  both_rows<O, 1, F16, With<Mod::ftz>, F<F16, true>>(rows);
  both_rows<O, 1, Bf16, With<>, F<Bf16, false>>(rows);
}

}  // namespace

void half_rows(Rows& rows) {
  sum_rows<add, HalfAdd>(rows);
  sum_rows<add, HalfAdd, Mod::rn>(rows);
  sum_rows<sub, HalfSub>(rows);
  sum_rows<sub, HalfSub, Mod::rn>(rows);
  sum_rows<mul, HalfMul>(rows);
  sum_rows<mul, HalfMul, Mod::rn>(rows);
  fma_rows(rows);
  contraction_rows<true, false, Mod::minus_product>(rows);
  contraction_rows<false, true, Mod::minus_addend>(rows);
  contraction_rows<true, true, Mod::minus_product, Mod::minus_addend>(rows);
  extreme_rows<min, LesserHalf>(rows);
  extreme_rows<max, GreaterHalf>(rows);
  sign_rows<Opcode::abs, HalfAbs>(rows);
  sign_rows<neg, HalfNeg>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
