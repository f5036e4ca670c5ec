// cvt to integers (PTX ISA 9.7.9, "cvt").
#include <type_traits>

#include "gpu/machine/families/through_doubles.hpp"

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
// The source's sign matters only if the cast widens. Otherwise signed and unsigned types share
// code.
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

// --- floating point to integer: rounded and clamped; the result for NaN depends on the types ---

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

// Values out of range are clamped with or without .sat.
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

template <Mod... R>
void integer_rows_of_reals(Rows& rows) {
  to_all_integers<f16, false, R...>(rows);
  to_all_integers<bf16, false, R...>(rows);
  to_all_integers<f32, false, R...>(rows);
  to_all_integers<f32, true, R...>(rows);
  to_all_integers<f64, false, R...>(rows);
}

}  // namespace

void convert_integer_rows(Rows& rows) {
  integer_rows<u8, u16, u32, u64, s8, s16, s32, s64>(rows);
  integer_rows_of_reals<Mod::rni, Mod::rzi, Mod::rmi, Mod::rpi>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
