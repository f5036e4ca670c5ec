// cvt to f32 and f64, and to an integral value of the same type (PTX ISA 9.7.9, "cvt").
#include "gpu/machine/families/through_doubles.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

// --- to f32 and f64 ---

template <bool Ftz, bool Sat>
float finish_with_payload(float x) {
  const float r = flush_if<Ftz>(x);
  return Sat ? saturate(r) : r;
}
template <bool Ftz, bool Sat>
float finish(float x) {
  return canonical(finish_with_payload<Ftz, Sat>(x));
}
template <bool, bool Sat>
double finish(double x) {
  return Sat ? saturate(x) : pick(is_nan(x), nan_of(x), x);
}
// As measured on an H200: bf16 to f32 keeps the payload of a NaN. f64 to f32 keeps the top of it
// and makes it quiet. f32 to f64 with .ftz makes the NaN canonical first.
template <Type S, Type D, bool Ftz, bool Sat>
struct ToReal {
  Lane<D> operator()(Lane<S> x) const {
    if constexpr (S == bf16 && D == f32) return finish_with_payload<Ftz, Sat>(Bf16::value(x));
    if constexpr (S == f64 && D == f32) return finish_with_payload<Ftz, Sat>(static_cast<float>(x));
    if constexpr (S == f32 && D == f64 && Ftz)
      return finish<Ftz, Sat>(static_cast<double>(canonical(flush(x))));
    if constexpr (S == f16) return finish<Ftz, Sat>(static_cast<Lane<D>>(F16::value(x)));
    if constexpr (S == bf16) return finish<Ftz, Sat>(static_cast<Lane<D>>(Bf16::value(x)));
    if constexpr (S == f32) return finish<Ftz, Sat>(static_cast<Lane<D>>(flush_if<Ftz>(x)));
    return finish<Ftz, Sat>(static_cast<Lane<D>>(x));
  }
};
template <Type S, Type D, bool Ftz, bool Sat>
constexpr Handler to_real = unary<Lane<D>, Lane<S>, ToReal<S, D, Ftz, Sat>>;

// From S to a floating-point D in direction R (none if the conversion is exact), with .ftz and
// .sat.
template <Type S, Type D, Mod Direction, Mod... R>
void real_rows_from(Rows& rows) {
  using enum Mod;
  static constexpr Row table[] = {
      {Opcode::cvt, {D, S}, {R...}, {D, S}, in_direction<to_real<S, D, false, false>, Direction>},
      {Opcode::cvt,
       {D, S},
       {R..., ftz},
       {D, S},
       in_direction<to_real<S, D, true, false>, Direction>},
      {Opcode::cvt,
       {D, S},
       {R..., sat},
       {D, S},
       in_direction<to_real<S, D, false, true>, Direction>},
      {Opcode::cvt,
       {D, S},
       {R..., ftz, sat},
       {D, S},
       in_direction<to_real<S, D, true, true>, Direction>},
  };
  add_rows(rows, table);
}
// Integers: .ftz changes nothing. An exact conversion needs no direction, nor do 0 and 1.
template <Type S, Type D, Mod R>
void real_rows_of_integer(Rows& rows) {
  constexpr bool exact = ptx::size_of(S) < ptx::size_of(D);
  constexpr Mod direction = exact ? Mod::rn : R;
  static constexpr Row table[] = {
      {cvt, {D, S}, {R}, {D, S}, in_direction<to_real<S, D, false, false>, direction>},
      {cvt, {D, S}, {R, Mod::sat}, {D, S}, to_real<S, D, false, true>},
  };
  add_rows(rows, table);
}
template <Type D, Mod R, Type... S>
void reals_of_integers(Rows& rows) {
  (real_rows_of_integer<S, D, R>(rows), ...);
}
template <Mod... R>
void directed_real_rows(Rows& rows) {
  (real_rows_from<f64, f32, R, R>(rows), ...);
  (reals_of_integers<f32, R, u8, u16, u32, u64, s8, s16, s32, s64>(rows), ...);
  (reals_of_integers<f64, R, u8, u16, u32, u64, s8, s16, s32, s64>(rows), ...);
}
template <Type... S>
void widening_rows(Rows& rows) {
  (real_rows_from<S, f32, Mod::rn>(rows), ...);
  (real_rows_from<S, f64, Mod::rn>(rows), ...);
}

// --- the same type: rounded to an integral value ---

template <Mod R, bool Ftz, bool Sat>
struct Integral {
  template <class T>
  T operator()(T x) const {
    if constexpr (sizeof(T) == 4) x = flush_if<Ftz>(x);
    return finish<Ftz, Sat>(to_integral<R>(x));
  }
};
template <class Format, Mod R, Clamp C>
struct IntegralHalf {
  U32 operator()(U32 x) const {
    return clamp_half<Format, C>(Format::round(to_integral<R>(Format::value(x))));
  }
};
template <Mod R>
void integral_rows_in(Rows& rows) {
  using enum Mod;
  static constexpr Row table[] = {
      {Opcode::cvt, {f32, f32}, {R}, {f32, f32}, unary<float, float, Integral<R, false, false>>},
      {Opcode::cvt,
       {f32, f32},
       {R, ftz},
       {f32, f32},
       unary<float, float, Integral<R, true, false>>},
      {Opcode::cvt,
       {f32, f32},
       {R, sat},
       {f32, f32},
       unary<float, float, Integral<R, false, true>>},
      {Opcode::cvt,
       {f32, f32},
       {R, ftz, sat},
       {f32, f32},
       unary<float, float, Integral<R, true, true>>},
      {Opcode::cvt, {f64, f64}, {R}, {f64, f64}, unary<double, double, Integral<R, false, false>>},
      {Opcode::cvt,
       {f64, f64},
       {R, sat},
       {f64, f64},
       unary<double, double, Integral<R, false, true>>},
      {Opcode::cvt,
       {f16, f16},
       {R},
       {f16, f16},
       unary<U16, U16, IntegralHalf<F16, R, Clamp::none>>},
      {Opcode::cvt,
       {f16, f16},
       {R, sat},
       {f16, f16},
       unary<U16, U16, IntegralHalf<F16, R, Clamp::sat>>},
      {Opcode::cvt,
       {bf16, bf16},
       {R},
       {bf16, bf16},
       unary<U16, U16, IntegralHalf<Bf16, R, Clamp::none>>},
  };
  add_rows(rows, table);
}
template <class Format, Clamp C>
struct SameHalf {
  U32 operator()(U32 x) const { return clamp_half<Format, C>(x); }
};
void same_type_rows(Rows& rows) {
  real_rows_from<f32, f32, Mod::rn>(rows);
  real_rows_from<f64, f64, Mod::rn>(rows);
  static constexpr Row table[] = {
      {cvt, {f16, f16}, {}, {f16, f16}, unary<U16, U16, SameHalf<F16, Clamp::none>>},
      {cvt, {f16, f16}, {Mod::sat}, {f16, f16}, unary<U16, U16, SameHalf<F16, Clamp::sat>>},
      {cvt, {bf16, bf16}, {}, {bf16, bf16}, unary<U16, U16, SameHalf<Bf16, Clamp::none>>},
  };
  add_rows(rows, table);
}

template <Mod... R>
void integral_rows(Rows& rows) {
  (integral_rows_in<R>(rows), ...);
}

}  // namespace

void convert_rows(Rows& rows) {
  integral_rows<Mod::rni, Mod::rzi, Mod::rmi, Mod::rpi>(rows);
  same_type_rows(rows);
  directed_real_rows<Mod::rn, Mod::rz, Mod::rm, Mod::rp>(rows);
  widening_rows<f16, bf16>(rows);
  real_rows_from<f32, f64, Mod::rn>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
