// cvt between integers and floating-point numbers (PTX ISA 9.7.9, "cvt").
#include <type_traits>

#include "gpu/machine/families/rounding.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

// --- integer to integer ---

template <class D>
struct CastTo {
  template <class S>
  D operator()(S x) const {
    return static_cast<D>(x);
  }
};
template <class T>
constexpr bool is_signed_lane = T(-1) < T(0);
template <class T>
constexpr T most = is_signed_lane<T> ? static_cast<T>(~(BitsOf<T>{1} << (8 * sizeof(T) - 1)))
                                     : static_cast<T>(~T{0});
template <class T>
constexpr T least = is_signed_lane<T> ? static_cast<T>(BitsOf<T>{1} << (8 * sizeof(T) - 1)) : T{0};

template <class T>
constexpr int value_bits = 8 * sizeof(T) - is_signed_lane<T>;
template <class D, class S>
constexpr bool past_most = value_bits<S> > value_bits<D>;
template <class D, class S>
constexpr bool past_least = is_signed_lane<S> && (!is_signed_lane<D> || past_most<D, S>);
template <class D>
struct ClampTo {
  template <class S>
  D operator()(S x) const {
    if (is_signed_lane<S> && !is_signed_lane<D> && x < 0) return 0;
    if (is_signed_lane<D> && past_least<D, S> && x < static_cast<S>(least<D>)) return least<D>;
    if (past_most<D, S> && x > static_cast<S>(most<D>)) return most<D>;
    return static_cast<D>(x);
  }
};
// Signs make a difference where something is added, or lost: nothing is compiled twice.
template <Type D, Type S>
using CastSource = std::conditional_t<(sizeof(Lane<D>) > sizeof(Lane<S>)), Lane<S>, Bits<S>>;
template <Type D, Type S>
constexpr Handler cast = unary<Bits<D>, CastSource<D, S>, CastTo<Bits<D>>>;
template <Type D, Type S, bool clamps = past_most<Lane<D>, Lane<S>> || past_least<Lane<D>, Lane<S>>>
constexpr Handler clamp = unary<Lane<D>, Lane<S>, ClampTo<Lane<D>>>;
template <Type D, Type S>
constexpr Handler clamp<D, S, false> = cast<D, S>;
template <Type S, Type... D>
void integer_rows_from(Rows& rows) {
  static constexpr Row table[] = {Row{cvt, {D, S}, {}, {D, S}, cast<D, S>}...,
                                  Row{cvt, {D, S}, {Mod::sat}, {D, S}, clamp<D, S>}...};
  add_rows(rows, table);
}
template <Type... S>
void integer_rows(Rows& rows) {
  (integer_rows_from<S, u8, u16, u32, u64, s8, s16, s32, s64>(rows), ...);
}

// --- through doubles: every conversion is loaded exactly (or to odd), then stored ---

using Load = void (*)(const Warp&, Ref, double*);
using Store = void (*)(Warp&, Ref, const double*);
template <Load L, Store S>
const Op* through_doubles(Warp& w, const Op* op) {
  alignas(64) double x[lanes];
  L(w, op->a, x);
  S(w, op->d, x);
  return op + 1;
}

template <Type T, bool Ftz>
double exactly(Lane<T> x) {
  if constexpr (T == f16) return F16::value(x);
  if constexpr (T == bf16) return Bf16::value(x);
  if constexpr (T == f32) return flush_if<Ftz>(x);
  if constexpr (T == f64) return x;
}
template <Type T, bool Ftz>
[[gnu::noinline]] void load(const Warp& w, Ref a, double* x) {
  const Lane<T>* from = w.at<Lane<T>>(a);
  for (int l = 0; l < lanes; ++l) x[l] = exactly<T, Ftz>(from[l]);
}
// Integers past 53 bits are rounded to odd, so that what is stored is rounded once.
template <class T>
double odd_double(T x) {
  if constexpr (sizeof(T) < 8) return x;
  const bool negative = is_signed_lane<T> && x < 0;
  const U64 m = negative ? 0 - static_cast<U64>(x) : static_cast<U64>(x);
  const U64 lost = m & 0x7ff;
  const U64 kept = m >> 53 ? (m - lost) | (lost != 0 ? U64{0x800} : U64{0}) : m;
  return negative ? -static_cast<double>(kept) : static_cast<double>(kept);
}
template <Type T>
[[gnu::noinline]] void load_integer(const Warp& w, Ref a, double* x) {
  const Lane<T>* from = w.at<Lane<T>>(a);
  for (int l = 0; l < lanes; ++l) x[l] = odd_double(from[l]);
}

// --- floating point to integer: rounded, clamped; what NaN gives depends on the types ---

template <Mod R>
float to_integral(float x) {
  if (R == Mod::rni) return __builtin_rintf(x);
  if (R == Mod::rzi) return __builtin_truncf(x);
  return R == Mod::rmi ? __builtin_floorf(x) : __builtin_ceilf(x);
}
template <Mod R>
double to_integral(double x) {
  if (R == Mod::rni) return __builtin_rint(x);
  if (R == Mod::rzi) return __builtin_trunc(x);
  return R == Mod::rmi ? __builtin_floor(x) : __builtin_ceil(x);
}
// NaN becomes 0, or the top bit alone if either side has 64 bits (PTX ISA, "cvt").
template <class D, bool Long>
constexpr D from_nan = Long || sizeof(D) == 8 ? static_cast<D>(BitsOf<D>{1} << (8 * sizeof(D) - 1))
                                              : D{0};
template <class D, Mod R, bool Long>
struct ToInteger {
  template <class T>
  D operator()(T x) const {
    constexpr T past = T(U64{1} << (8 * sizeof(D) - 1)) * (is_signed_lane<D> ? 1 : 2);
    constexpr T floor = is_signed_lane<D> ? -past : T{0};
    const T r = to_integral<R>(x);
    const bool above = r >= past, below = r < floor, nan = r != r;
    const D inside = narrowed(pick(above | below | nan, T{0}, r));
    const D kept = pick(above, most<D>, pick(below, least<D>, inside));
    return pick(nan, from_nan<D, Long>, kept);
  }

 private:
  template <class T>
  static D narrowed(T r) {
    if constexpr (sizeof(D) < 4) return static_cast<D>(static_cast<S32>(r));
    return static_cast<D>(r);
  }
};
template <class D, Mod R, bool Long>
[[gnu::noinline]] void store_integer(Warp& w, Ref d, const double* x) {
  write<D>(w, d, [=](int l) { return ToInteger<D, R, Long>{}(x[l]); });
}
template <bool Ftz, class F>
struct Flushing {
  auto operator()(float x) const { return F{}(flush_if<Ftz>(x)); }
};
template <Type S, Type D, bool Ftz, Mod R>
constexpr Handler to_integer = through_doubles<load<S, Ftz>, store_integer<Lane<D>, R, S == f64>>;
template <bool Ftz, Mod R>
constexpr Handler to_integer<f32, s32, Ftz, R> =
    unary<S32, float, Flushing<Ftz, ToInteger<S32, R, false>>>;
template <bool Ftz, Mod R>
constexpr Handler to_integer<f32, u32, Ftz, R> =
    unary<U32, float, Flushing<Ftz, ToInteger<U32, R, false>>>;

// Out of range is clamped with or without .sat.
template <Type S, Mod R, bool Ftz, class Mods, Type... D>
void to_integer_rows(Rows& rows) {
  static constexpr Row table[] = {
      Row{cvt, {D, S}, Mods::set, {D, S}, to_integer<S, D, Ftz, R>}...,
      Row{cvt, {D, S}, Mods::set | With<Mod::sat>::set, {D, S}, to_integer<S, D, Ftz, R>}...};
  add_rows(rows, table);
}
template <Type S, bool Ftz, Mod... R>
void to_all_integers(Rows& rows) {
  if constexpr (Ftz)
    (to_integer_rows<S, R, true, With<R, Mod::ftz>, u8, u16, u32, u64, s8, s16, s32, s64>(rows),
     ...);
  else
    (to_integer_rows<S, R, false, With<R>, u8, u16, u32, u64, s8, s16, s32, s64>(rows), ...);
}

// --- to f16 and bf16 through doubles ---

// A NaN of f64 keeps its sign and the top of its payload, made quiet; others are canonical (an
// H200's answers).
template <class Format>
U32 narrow_nan(double x) {
  constexpr U32 fraction = Format::type == f16 ? 10 : 7;
  const U64 bits = to_bits(quiet(x));
  const U32 payload = static_cast<U32>(bits >> (52 - fraction)) & ((1u << fraction) - 1);
  return static_cast<U32>(bits >> 63) << 15 | Format::infinity | payload;
}
template <class Format, bool Payload, Mod R>
U32 narrowed_half(double x) {
  const U32 r = RoundHalf<Format, R>::of(x);
  return Payload ? pick(is_nan(x), narrow_nan<Format>(x), r) : r;
}
template <class Format, bool Payload, Mod R, Clamp C>
[[gnu::noinline]] void store_half_lanes(Warp& w, Ref d, const double* x) {
  write<U16>(w, d,
             [=](int l) { return clamp_half<Format, C>(narrowed_half<Format, Payload, R>(x[l])); });
}
template <class Format, Type S, Mod R, Clamp C>
constexpr Store store_half = store_half_lanes<Format, S == f64, R, C>;
template <class Format, Load L, Type S, Mod R, Mod... Also>
void half_rows_from(Rows& rows) {
  static constexpr Row table[] = {
      {cvt,
       {Format::type, S},
       {R, Also...},
       {Format::type, S},
       through_doubles<L, store_half<Format, S, R, Clamp::none>>},
      {cvt,
       {Format::type, S},
       {R, Mod::sat, Also...},
       {Format::type, S},
       through_doubles<L, store_half<Format, S, R, Clamp::sat>>},
  };
  add_rows(rows, table);
}
// .relu and .satfinite: of f32 sources only.
template <class Format, Mod R>
void clamped_half_rows(Rows& rows) {
  constexpr Load from = load<f32, false>;
  static constexpr Row table[] = {
      {cvt,
       {Format::type, f32},
       {R, Mod::relu},
       {Format::type, f32},
       through_doubles<from, store_half<Format, f32, R, Clamp::relu>>},
      {cvt,
       {Format::type, f32},
       {R, Mod::satfinite},
       {Format::type, f32},
       through_doubles<from, store_half<Format, f32, R, Clamp::finite>>},
      {cvt,
       {Format::type, f32},
       {R, Mod::relu, Mod::satfinite},
       {Format::type, f32},
       through_doubles<from, store_half<Format, f32, R, Clamp::finite_relu>>},
  };
  add_rows(rows, table);
}
template <class Format, Type... S>
void halves_of_integers(Rows& rows) {
  using enum Mod;
  (half_rows_from<Format, load_integer<S>, S, rn>(rows), ...);
  (half_rows_from<Format, load_integer<S>, S, rz>(rows), ...);
  (half_rows_from<Format, load_integer<S>, S, rm>(rows), ...);
  (half_rows_from<Format, load_integer<S>, S, rp>(rows), ...);
}
template <class Format, Mod R>
void halves_of_reals(Rows& rows) {
  half_rows_from<Format, load<f64, false>, f64, R>(rows);
  // An H200 keeps subnormal f32 on the way to f16, .ftz or not.
  half_rows_from<Format, load<f32, Format::type != f16>, f32, R, Mod::ftz>(rows);
  clamped_half_rows<Format, R>(rows);
  if constexpr (Format::type == bf16) half_rows_from<Format, load<f16, false>, f16, R>(rows);
  if constexpr (Format::type == f16) half_rows_from<Format, load<bf16, false>, bf16, R>(rows);
  if constexpr (R != Mod::rn) half_rows_from<Format, load<f32, false>, f32, R>(rows);
}
// f32 to nearest, the common case, in single precision.
template <class Format, Clamp C>
struct Narrow {
  U32 operator()(float x) const { return clamp_half<Format, C>(Format::round(x)); }
};
template <class Format>
void half_rows(Rows& rows) {
  halves_of_integers<Format, u8, u16, u32, u64, s8, s16, s32, s64>(rows);
  halves_of_reals<Format, Mod::rn>(rows);
  halves_of_reals<Format, Mod::rz>(rows);
  halves_of_reals<Format, Mod::rm>(rows);
  halves_of_reals<Format, Mod::rp>(rows);
  constexpr Type T = Format::type, other = T == f16 ? bf16 : f16;
  static constexpr Row table[] = {
      // To nearest without being told, as ptxas has it.
      {cvt,
       {T, other},
       {},
       {T, other},
       through_doubles<load<other, false>, store_half<Format, other, Mod::rn, Clamp::none>>},
      {cvt, {T, f32}, {Mod::rn}, {T, f32}, unary<U16, float, Narrow<Format, Clamp::none>>},
      {cvt, {T, f32}, {Mod::rn, Mod::sat}, {T, f32}, unary<U16, float, Narrow<Format, Clamp::sat>>},
  };
  add_rows(rows, table);
}

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
// To f32, bf16 keeps the payload of a NaN and f64 the top of it, made quiet; f32 to f64 with .ftz
// makes it canonical first (an H200's answers).
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

// From S to a real D in direction R (none if it is exact), with .ftz and .sat.
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
  to_all_integers<f16, false, R...>(rows);
  to_all_integers<bf16, false, R...>(rows);
  to_all_integers<f32, false, R...>(rows);
  to_all_integers<f32, true, R...>(rows);
  to_all_integers<f64, false, R...>(rows);
}

}  // namespace

void convert_rows(Rows& rows) {
  integer_rows<u8, u16, u32, u64, s8, s16, s32, s64>(rows);
  integral_rows<Mod::rni, Mod::rzi, Mod::rmi, Mod::rpi>(rows);
  same_type_rows(rows);
  half_rows<F16>(rows);
  half_rows<Bf16>(rows);
  directed_real_rows<Mod::rn, Mod::rz, Mod::rm, Mod::rp>(rows);
  widening_rows<f16, bf16>(rows);
  real_rows_from<f32, f64, Mod::rn>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
