// Conversions through doubles (PTX ISA 9.7.9, "cvt"). A source is loaded exactly, or rounded to
// odd, so that the result is rounded only once, when it is stored.
#pragma once
#include "gpu/machine/families/rounding.hpp"

namespace inflight::machine::INFLIGHT_ISA {

template <class T>
constexpr bool is_signed_lane = T(-1) < T(0);
template <class T>
constexpr T most = is_signed_lane<T> ? static_cast<T>(~(BitsOf<T>{1} << (8 * sizeof(T) - 1)))
                                     : static_cast<T>(~T{0});
template <class T>
constexpr T least = is_signed_lane<T> ? static_cast<T>(BitsOf<T>{1} << (8 * sizeof(T) - 1)) : T{0};

using LoadDoubles = void (*)(const Warp&, Ref, double*);
using StoreDoubles = void (*)(Warp&, Ref, const double*);
template <LoadDoubles L, StoreDoubles S>
const Op* through_doubles(Warp& w, const Op* op) {
  alignas(64) double x[lanes];
  L(w, op->a, x);
  S(w, op->d, x);
  return op + 1;
}

template <Type T, bool Ftz>
double exactly(Lane<T> x) {
  if constexpr (T == Type::f16) return F16::value(x);
  if constexpr (T == Type::bf16) return Bf16::value(x);
  if constexpr (T == Type::f32) return flush_if<Ftz>(x);
  if constexpr (T == Type::f64) return x;
}
template <Type T, bool Ftz>
[[gnu::noinline]] void load(const Warp& w, Ref a, double* x) {
  const Lane<T>* from = w.at<Lane<T>>(a);
  for (int l = 0; l < lanes; ++l) x[l] = exactly<T, Ftz>(from[l]);
}
// Rounds integers of more than 53 bits to odd, so that the stored result is rounded once.
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

}  // namespace inflight::machine::INFLIGHT_ISA
