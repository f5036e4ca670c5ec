// Bit-exact arithmetic on f32 and f64 lanes (PTX ISA 9.7.3): flushing, saturation, NaN results and
// rounding directions around plain C++ expressions.
#pragma once
#include "gpu/machine/families/rows.hpp"

namespace inflight::machine::INFLIGHT_ISA {

inline constexpr U32 canonical_nan_bits = 0x7fffffff;

inline float canonical_nan() { return from_bits<float>(canonical_nan_bits); }
inline float canonical(float x) { return x != x ? canonical_nan() : x; }
// .ftz: a subnormal becomes a zero of its sign.
inline float flush(float x) {
  const U32 bits = to_bits(x);
  return from_bits<float>(bits & 0x7f800000 ? bits : bits & 0x80000000);
}
template <bool Ftz>
float flush_if(float x) {
  return Ftz ? flush(x) : x;
}
// .sat: clamped to [0, 1]; NaN and -0 give +0.
inline float saturate(float x) {
  const float low = x > 0 ? x : 0.0f;
  return low < 1 ? low : 1.0f;
}
inline double saturate(double x) {
  const double low = x > 0 ? x : 0.0;
  return low < 1 ? low : 1.0;
}

// A result is flushed if it is subnormal when rounded with an unbounded exponent range, as measured
// on an H200. For operations that round there, F::scaled returns that result times 2^64. Sums of
// subnormal size are exact.
template <class F, class... A>
float flushed_result(A... a) {
  const float r = F{}(a...);
  if constexpr (requires { F::scaled(a...); }) {
    const float magnitude = from_bits<float>(to_bits(F::scaled(a...)) & 0x7fffffff);
    return pick(magnitude < 0x1p-62f, from_bits<float>(to_bits(r) & 0x80000000), r);
  } else {
    return flush(r);
  }
}
// f32 results. With .ftz the inputs and the result are flushed. With .sat the result is saturated;
// else a NaN becomes canonical.
template <class F, bool Ftz, bool Sat>
struct Single {
  template <class... A>
  float operator()(A... a) const {
    const float r = of(a...);
    return Sat ? saturate(r) : canonical(r);
  }

 private:
  template <class... A>
  static float of(A... a) {
    if constexpr (Ftz) return flushed_result<F>(flush(a)...);
    return F{}(a...);
  }
};

// f64 results: a NaN is the last NaN operand made quiet, or the default NaN, as on an H200.
inline double quiet(double x) { return from_bits<double>(to_bits(x) | 0x0008000000000000); }
inline bool is_nan(double a) { return to_bits(a) << 1 > 0xffe0000000000000; }
template <class... A>
double nan_of(A... a) {
  double r = from_bits<double>(0xfff8000000000000);
  ((r = pick(is_nan(a), quiet(a), r)), ...);
  return r;
}
template <class F>
struct Double {
  template <class... A>
  double operator()(A... a) const {
    const double r = F{}(a...);
    return pick(is_nan(r), nan(a...), r);
  }

 private:
  template <class... A>
  static double nan(A... a) {
    if constexpr (requires { F::nan(a...); }) return F::nan(a...);
    return nan_of(a...);
  }
};

struct RealAdd {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct RealSub {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct RealMul {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
  static float scaled(float a, float b) { return a * 0x1p64f * b; }
};
struct RealDiv {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
  static double nan(double a, double b) { return nan_of(b, a); }  // the first NaN operand's
};
struct RealFma {
  float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
  double operator()(double a, double b, double c) const { return __builtin_fma(a, b, c); }
  static float scaled(float a, float b, float c) {
    return __builtin_fmaf(a * 0x1p64f, b, c * 0x1p64f);
  }
};
// An fma of which one term or both are negated. An f64 NaN keeps its sign.
template <bool MinusProduct, bool MinusAddend>
struct RealSignedFma {
  template <class T>
  T operator()(T a, T b, T c) const {
    return RealFma{}(MinusProduct ? -a : a, b, MinusAddend ? -c : c);
  }
  static float scaled(float a, float b, float c) {
    return RealFma::scaled(MinusProduct ? -a : a, b, MinusAddend ? -c : c);
  }
};
struct RealRcp {
  template <class T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
struct RealSqrt {
  float operator()(float a) const { return __builtin_sqrtf(a); }
  double operator()(double a) const { return __builtin_sqrt(a); }
};

// Sets the processor's rounding direction for its lifetime. The memory clobbers keep the loads of
// the lanes after its start and their stores before its end, and so all computation between them.
template <Mod Direction>
class RoundingScope {
 public:
  RoundingScope() { set(nearest | field << 13); }
  ~RoundingScope() { set(nearest); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  static constexpr U32 nearest = 0x1f80;  // MXCSR: every exception masked
  static constexpr U32 field = Direction == Mod::rm ? 1 : Direction == Mod::rp ? 2 : 3;
  static void set(U32 mxcsr) { asm volatile("ldmxcsr %0" : : "m"(mxcsr) : "memory"); }
};
// Runs handler H in a rounding direction other than to nearest.
template <Handler H, Mod Direction>
const Op* rounding(Warp& w, const Op* op) {
  const RoundingScope<Direction> scope;
  return H(w, op);
}
template <Handler H, Mod Direction>
constexpr Handler in_direction = rounding<H, Direction>;
template <Handler H>
constexpr Handler in_direction<H, Mod::rn> = H;

template <int Operands, class T, class F>
constexpr Handler lanewise = nullptr;
template <class T, class F>
constexpr Handler lanewise<1, T, F> = unary<T, T, F>;
template <class T, class F>
constexpr Handler lanewise<2, T, F> = binary<T, T, T, F>;
template <class T, class F>
constexpr Handler lanewise<3, T, F> = ternary<T, T, T, T, F>;

// A row in which every operand, including the destination, has type `t`.
template <int Sources>
constexpr Row uniform_row(Opcode opcode, Type t, ModSet mods, Handler handler) {
  Row row{opcode, {t}, mods, {}, handler};
  for (int i = 0; i <= Sources; ++i) row.operands[i] = t;
  return row;
}
// f32 rows without and with .ftz, each with the modifiers `Mods`.
template <Opcode O, int Sources, class F, bool Sat, class Mods, Mod Direction>
void single_rows(Rows& rows) {
  static constexpr Row table[] = {
      uniform_row<Sources>(
          O, Type::f32, Mods::set,
          in_direction<lanewise<Sources, float, Single<F, false, Sat>>, Direction>),
      uniform_row<Sources>(
          O, Type::f32, Mods::set | With<Mod::ftz>::set,
          in_direction<lanewise<Sources, float, Single<F, true, Sat>>, Direction>)};
  add_rows(rows, table);
}
// op.R.f32 and op.R.f64 for each direction R. f32 also has .ftz and, if Sat, .sat.
template <Opcode O, int Sources, class F, bool Sat, Mod... R>
void directed_rows(Rows& rows) {
  (single_rows<O, Sources, F, false, With<R>, R>(rows), ...);
  if constexpr (Sat) (single_rows<O, Sources, F, true, With<R, Mod::sat>, R>(rows), ...);
  static constexpr Row table[] = {uniform_row<Sources>(
      O, Type::f64, With<R>::set, in_direction<lanewise<Sources, double, Double<F>>, R>)...};
  add_rows(rows, table);
}
template <Mod... R>
void arithmetic_rows(Rows& rows) {
  using enum Opcode;
  directed_rows<add, 2, RealAdd, true, R...>(rows);
  directed_rows<sub, 2, RealSub, true, R...>(rows);
  directed_rows<mul, 2, RealMul, true, R...>(rows);
  directed_rows<fma, 3, RealFma, true, R...>(rows);
  directed_rows<mad, 3, RealFma, true, R...>(rows);
  directed_rows<div, 2, RealDiv, false, R...>(rows);
  directed_rows<rcp, 1, RealRcp, false, R...>(rows);
  directed_rows<sqrt, 1, RealSqrt, false, R...>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
