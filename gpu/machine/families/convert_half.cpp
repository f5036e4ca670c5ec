// cvt to f16 and bf16 (PTX ISA 9.7.9, "cvt").
#include "gpu/machine/families/through_doubles.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

// As on an H200, a NaN of f64 keeps its sign and the top of its payload and becomes quiet. Other
// NaNs become canonical.
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
constexpr StoreDoubles store_half = store_half_lanes<Format, S == f64, R, C>;
template <class Format, LoadDoubles L, Type S, Mod R, Mod... Also>
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
// .relu and .satfinite: only for f32 sources.
template <class Format, Mod R>
void clamped_half_rows(Rows& rows) {
  constexpr LoadDoubles from = load<f32, false>;
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
  // An H200 does not flush a subnormal f32 that it converts to f16, even with .ftz.
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
      // Without a direction it rounds to nearest, as ptxas does.
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

}  // namespace

void convert_half_rows(Rows& rows) {
  half_rows<F16>(rows);
  half_rows<Bf16>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
