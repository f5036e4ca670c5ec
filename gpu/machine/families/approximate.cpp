// The approximate functions, within the errors that PTX states (PTX ISA 9.7.3, 9.7.4). Products and
// sums are never fused here, so that every instruction set gives the same bits.
#include "gpu/machine/families/rounding.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

constexpr float infinity = __builtin_huge_valf();

template <class T>
T magnitude(T x) {
  return from_bits<T>(to_bits(x) & ~(BitsOf<T>{1} << (8 * sizeof(T) - 1)));
}
float with_sign_of(float value, float sign) {
  return from_bits<float>((to_bits(value) & 0x7fffffff) | (to_bits(sign) & 0x80000000));
}
template <class... T>
float polynomial(float x, float first, T... rest) {
  if constexpr (sizeof...(rest) == 0)
    return first;
  else
    return first + x * polynomial(x, rest...);
}

// 2^x with x = n + f, |f| <= 1/2. 2^n is applied in two factors, so subnormal results round once.
struct Ex2 {
  float operator()(float x) const {
    constexpr float to_integer = 12582912.0f;  // 1.5 * 2^23
    const float high = x < 129.0f ? x : 129.0f, inside = high > -152.0f ? high : -152.0f;
    const float shifted = inside + to_integer;
    const float f = inside - (shifted - to_integer);
    const S32 n = static_cast<S32>(to_bits(shifted) - to_bits(to_integer));
    const float p = polynomial(f, 1.0f, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6aeccp-5f,
                               0x1.3b2a1cp-7f, 0x1.5f48cp-10f, 0x1.444p-13f);
    const S32 half = n >> 1;
    const float r = p * power(half) * power(n - half);
    return x != x ? x : r;
  }

 private:
  static float power(S32 n) { return from_bits<float>(static_cast<U32>(n + 127) << 23); }
};

// log2(x) with x = m 2^e and m around 1. log2(m) is a series in s = (m - 1)/(m + 1).
struct Lg2 {
  float operator()(float x) const {
    const bool tiny = x < 0x1p-126f;
    const U32 bits = to_bits(tiny ? x * 0x1p24f : x);
    const S32 e = static_cast<S32>(bits - 0x3f3504f3) >> 23;
    const float m = from_bits<float>(bits - (static_cast<U32>(e) << 23));
    const float s = (m - 1) / (m + 1), q = s * s;
    const float series = polynomial(q, 1.0f, 1.0f / 3, 1.0f / 5, 1.0f / 7, 1.0f / 9);
    const float log = s * 2.88539008f * series;
    const float r = static_cast<float>(tiny ? e - 24 : e) + log;
    const float special = x == 0 ? -infinity : x < 0 ? canonical_nan() : x;
    return x > 0 && x < infinity ? r : special;
  }
};

// sin and cos: subtracts the nearest multiple n of pi/2 from the angle in double precision, then
// evaluates a polynomial chosen by n. An angle of 2^27 or more counts as 0.
template <int Quarter>
struct Trigonometric {
  float operator()(float x) const {
    constexpr double to_integer = 6755399441055744.0;  // 1.5 * 2^52
    const double angle = magnitude(x) < 0x1p27f ? x : 0.0;
    const double shifted = angle * 0.63661977236758134 + to_integer;
    const double n = shifted - to_integer;
    const float r = static_cast<float>(angle - n * 1.5707963267948966);
    const U32 quarter = static_cast<U32>(to_bits(shifted)) + Quarter;
    const float q = r * r;
    const float sine =
        r + r * q * polynomial(q, -1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f);
    const float cosine =
        1 - q * 0.5f +
        q * q * polynomial(q, 4.166664568298827e-2f, -1.388731625493765e-3f, 2.443315711809948e-5f);
    const float value = quarter & 1 ? cosine : sine;
    const float turned = from_bits<float>(to_bits(value) ^ (quarter & 2) << 30);
    const float r0 = Quarter == 0 && magnitude(x) < 0x1p-126f ? with_sign_of(0.0f, x) : turned;
    return magnitude(x) < infinity ? r0 : canonical_nan();
  }
};
using Sin = Trigonometric<0>;
using Cos = Trigonometric<1>;

// tanh(x) = (1 - t)/(1 + t) with t = e^(-2|x|). Near 0, where that cancels, x - x^3/3.
struct Tanh {
  float operator()(float x) const {
    const float a = magnitude(x);
    const float t = Ex2{}(a * -2.88539008f);
    const float far = (1 - t) / (1 + t), near = a - a * a * a * 0.33333333f;
    return x != x ? x : with_sign_of(a < 0.0625f ? near : far, x);
  }
};

struct Rsqrt {
  template <class T>
  T operator()(T x) const {
    return T{1} / RealSqrt{}(x);
  }
};

// div.approx: a / b, but the reciprocal of a divisor above 2^126 is 0 (PTX ISA, "div").
struct DivApprox {
  float operator()(float a, float b) const {
    const bool lost = magnitude(b) > 0x1p126f && magnitude(b) < infinity;
    return lost ? a * with_sign_of(0.0f, b) : a / b;
  }
};

// rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: they read and produce only the high word.
template <class F>
struct HighWord {
  double operator()(double x) const {
    const double r = F{}(flush(from_bits<double>(to_bits(x) & high)));
    const double kept = from_bits<double>((to_bits(r) + 0x80000000) & high);
    return r != r ? from_bits<double>(0x7fffffff00000000) : flush(kept);
  }

 private:
  static constexpr U64 high = 0xffffffff00000000;
  static double flush(double x) {
    const U64 bits = to_bits(x);
    return from_bits<double>(bits & 0x7ff0000000000000 ? bits : bits & (U64{1} << 63));
  }
};

// --- rows ---

template <Opcode O, int Sources, class F, Mod... Also>
void single_and_flushing(Rows& rows) {
  single_rows<O, Sources, F, false, With<Also...>, Mod::rn>(rows);
}
template <class Format, class F, bool Ftz>
struct InSingle {
  U32 operator()(U32 x) const {
    const U32 in = Ftz ? flush_half<Format>(x) : x;
    const U32 r = Format::round(F{}(Format::value(in)));
    return Ftz ? flush_half<Format>(r) : r;
  }
};
template <Opcode O, class F, class Format, bool Ftz, Mod... Also>
void half_rows_of(Rows& rows) {
  using H = InSingle<Format, F, Ftz>;
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
  unaries<rcp, With<Mod::approx, Mod::ftz>, HighWord<RealRcp>, f64>(rows);
  unaries<rsqrt, With<Mod::approx, Mod::ftz>, HighWord<Rsqrt>, f64>(rows);
  unaries<rsqrt, With<Mod::approx>, Double<Rsqrt>, f64>(rows);
}

}  // namespace

void approximate_rows(Rows& rows) {
  single_and_flushing<rcp, 1, RealRcp, Mod::approx>(rows);
  single_and_flushing<sqrt, 1, RealSqrt, Mod::approx>(rows);
  single_and_flushing<rsqrt, 1, Rsqrt, Mod::approx>(rows);
  single_and_flushing<div, 2, DivApprox, Mod::approx>(rows);
  single_and_flushing<div, 2, RealDiv, Mod::full>(rows);
  single_and_flushing<div, 2, RealDiv>(rows);  // .full is ignorable()
  single_and_flushing<ex2, 1, Ex2, Mod::approx>(rows);
  single_and_flushing<lg2, 1, Lg2, Mod::approx>(rows);
  single_and_flushing<sin, 1, Sin, Mod::approx>(rows);
  single_and_flushing<cos, 1, Cos, Mod::approx>(rows);
  single_rows<tanh, 1, Tanh, false, With<Mod::approx>, Mod::rn>(rows);
  half_rows_of<ex2, Ex2, F16, false>(rows);
  half_rows_of<ex2, Ex2, Bf16, true, Mod::ftz>(rows);
  half_rows_of<tanh, Tanh, F16, false>(rows);
  half_rows_of<tanh, Tanh, Bf16, false>(rows);
  double_rows(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
