// The approximate functions (PTX ISA 9.7.3, 9.7.4): the multifunction unit's instructions, and what
// ptxas puts around them. Products and sums are fused only where ptxas does.
#include "gpu/machine/families/multifunction.hpp"
#include "gpu/machine/families/rounding.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

template <class T>
T magnitude(T x) {
  return from_bits<T>(to_bits(x) & ~(BitsOf<T>{1} << (8 * sizeof(T) - 1)));
}
bool is_tiny(float x) { return magnitude(x) < 0x1p-126f; }
bool is_huge(float x) { return magnitude(x) > 0x1p126f; }

// Without .ftz, arguments that the unit would take for zero or whose results it would flush are
// scaled before and after.
struct Rcp {
  float operator()(float x) const {
    const float scale = pick(is_huge(x), 0.25f, pick(is_tiny(x), 0x1p24f, 1.0f));
    return mufu::Rcp{}(x * scale) * scale;
  }
};
struct Rsqrt {
  float operator()(float x) const {
    const bool tiny = is_tiny(x);
    return mufu::Rsq{}(x * pick(tiny, 0x1p24f, 1.0f)) * pick(tiny, 0x1p12f, 1.0f);
  }
};
struct Sqrt {
  float operator()(float x) const {
    const bool tiny = is_tiny(x);
    return mufu::Sqrt{}(x * pick(tiny, 0x1p24f, 1.0f)) * pick(tiny, 0x1p-12f, 1.0f);
  }
};
struct Ex2 {
  float operator()(float x) const {
    const bool low = x < -126;
    const float r = mufu::Ex2{}(x * pick(low, 0.5f, 1.0f));
    return r * pick(low, r, 1.0f);
  }
};
struct Lg2 {
  float operator()(float x) const {
    const bool tiny = is_tiny(x);
    return mufu::Lg2{}(x * pick(tiny, 0x1p24f, 1.0f)) - pick(tiny, 24.0f, 0.0f);
  }
};

template <bool Ftz>
float product_of(float a, float b) {
  if constexpr (Ftz) return flushed_result<RealMul>(flush(a), flush(b));
  return a * b;
}
// .full also scales huge divisors. Without .ftz, tiny ones are scaled.
template <bool Full, bool Ftz>
struct DivApprox {
  float operator()(float a, float b) const {
    if constexpr (Ftz && !Full) return product_of<Ftz>(a, mufu::Rcp{}(b));
    const float down = pick(Full & is_huge(b), 0.25f, 1.0f);
    const float scale = pick(!Ftz & is_tiny(b), 0x1p24f, down);
    return product_of<Ftz>(product_of<Ftz>(a, scale), mufu::Rcp{}(b * scale));
  }
};

template <class F>
using Canonical = Single<F, false, false>;
template <bool Full>
using Quotient = Canonical<DivApprox<Full, false>>;
template <bool Full>
using FlushedQuotient = Canonical<DivApprox<Full, true>>;

// rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: they read and produce only the high word.
template <class F>
struct HighWord {
  double operator()(double x) const {
    return from_bits<double>(U64{F{}(static_cast<U32>(to_bits(x) >> 32))} << 32);
  }
};

// rsqrt.approx.f64 improves the unit's result by a step of Householder's method.
struct Rsqrt64 {
  double operator()(double x) const {
    const bool tiny = magnitude(x) < 0x1p-1022;
    const double scaled = x * pick(tiny, 0x1p54, 1.0);
    const double near = HighWord<mufu::Rsq64>{}(scaled);
    const double error = __builtin_fma(scaled, -(near * near), 1.0);
    const double r = __builtin_fma(__builtin_fma(error, 0.375, 0.5), near * error, near);
    const bool exact = (x == 0) | (x == __builtin_huge_val());
    return pick(exact, near, r * pick(tiny, 0x1p27, 1.0));
  }
};

// Halves are cut off, not rounded. 2^16 is infinite as f16.
template <class Format>
U32 cut_off(float x);
template <>
U32 cut_off<Bf16>(float x) {
  return to_bits(x) >> 16;
}
template <>
U32 cut_off<F16>(float x) {
  const U32 bits = to_bits(x) & 0x7fffffff;
  const bool subnormal = bits < 0x38800000;
  const float small = pick(subnormal, from_bits<float>(bits), 0.0f);
  const U32 finite = pick(subnormal, static_cast<U32>(static_cast<S32>(small * 0x1p24f)),
                          (bits - (112 << 23)) >> 13);
  const U32 r = pick(bits >= 0x47800000, U32{F16::infinity}, finite);
  return pick(bits > 0x7f800000, half_nan_bits, r | (to_bits(x) >> 16 & 0x8000));
}

// --- rows ---

// F without .ftz, and Flushing with it.
template <Opcode O, int Sources, class F, class Flushing, Mod... Also>
void single_and_flushing(Rows& rows) {
  static constexpr Row table[] = {
      uniform_row<Sources>(O, f32, With<Also...>::set, lanewise<Sources, float, F>),
      uniform_row<Sources>(O, f32, With<Mod::ftz, Also...>::set,
                           lanewise<Sources, float, Flushing>)};
  add_rows(rows, table);
}
template <class Format, class F>
struct InSingle {
  U32 operator()(U32 x) const { return cut_off<Format>(F{}(Format::value(x))); }
};
template <Opcode O, class F, class Format, Mod... Also>
void half_rows_of(Rows& rows) {
  using H = InSingle<Format, F>;
  static constexpr Row table[] = {
      {O, {Format::type}, {Mod::approx, Also...}, {Format::type, Format::type}, unary<U16, U16, H>},
      {O,
       {Format::pair},
       {Mod::approx, Also...},
       {Format::pair, Format::pair},
       unary<U32, U32, Both<H>>}};
  add_rows(rows, table);
}
void double_rows(Rows& rows) {
  unaries<rcp, With<Mod::approx, Mod::ftz>, HighWord<mufu::Rcp64>, f64>(rows);
  unaries<rsqrt, With<Mod::approx, Mod::ftz>, HighWord<mufu::Rsq64>, f64>(rows);
  unaries<rsqrt, With<Mod::approx>, Double<Rsqrt64>, f64>(rows);
}

}  // namespace

void approximate_rows(Rows& rows) {
  single_and_flushing<rcp, 1, Canonical<Rcp>, mufu::Rcp, Mod::approx>(rows);
  single_and_flushing<sqrt, 1, Canonical<Sqrt>, mufu::Sqrt, Mod::approx>(rows);
  single_and_flushing<rsqrt, 1, Canonical<Rsqrt>, mufu::Rsq, Mod::approx>(rows);
  single_and_flushing<div, 2, Quotient<false>, FlushedQuotient<false>, Mod::approx>(rows);
  single_and_flushing<div, 2, Quotient<true>, FlushedQuotient<true>, Mod::full>(rows);
  single_and_flushing<div, 2, Quotient<true>, FlushedQuotient<true>>(rows);  // .full is ignorable()
  single_and_flushing<ex2, 1, Canonical<Ex2>, mufu::Ex2, Mod::approx>(rows);
  single_and_flushing<lg2, 1, Canonical<Lg2>, mufu::Lg2, Mod::approx>(rows);
  single_and_flushing<sin, 1, mufu::Sin, mufu::Sin, Mod::approx>(rows);
  single_and_flushing<cos, 1, mufu::Cos, mufu::Cos, Mod::approx>(rows);
  unaries<tanh, With<Mod::approx>, mufu::Tanh, f32>(rows);
  half_rows_of<ex2, mufu::Ex2, F16>(rows);
  half_rows_of<ex2, mufu::Ex2, Bf16, Mod::ftz>(rows);
  half_rows_of<tanh, mufu::Tanh, F16>(rows);
  half_rows_of<tanh, mufu::Tanh, Bf16>(rows);
  double_rows(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
