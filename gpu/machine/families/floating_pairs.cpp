// add, sub, mul and fma on pairs of f32, and of f32 with f16 or bf16 (PTX ISA 9.7.3, "add", "sub",
// "mul", "fma" and "Mixed Precision Floating-Point Instructions").
#include "gpu/machine/families/half.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

// --- pairs: two operations that do not depend on each other ---

template <class F>
struct OnPair {
  template <class... A>
  [[gnu::always_inline]] U64 operator()(A... a) const {
    const U64 low = to_bits(F{}(from_bits<float>(static_cast<U32>(a))...));
    const U64 high = to_bits(F{}(from_bits<float>(static_cast<U32>(a >> 32))...));
    return high << 32 | low;
  }
};
template <Opcode O, int Sources, class F, Mod Direction, class Mods>
void pair_rows(Rows& rows) {
  static constexpr Row table[] = {
      uniform_row<Sources>(
          O, f32x2, Mods::set,
          in_direction<lanewise<Sources, U64, OnPair<Single<F, false, false>>>, Direction>),
      uniform_row<Sources>(
          O, f32x2, Mods::set | With<Mod::ftz>::set,
          in_direction<lanewise<Sources, U64, OnPair<Single<F, true, false>>>, Direction>)};
  add_rows(rows, table);
}
template <Mod... R>
void all_pair_rows(Rows& rows) {
  (pair_rows<add, 2, RealAdd, R, With<R>>(rows), ...);
  (pair_rows<sub, 2, RealSub, R, With<R>>(rows), ...);
  (pair_rows<mul, 2, RealMul, R, With<R>>(rows), ...);
  (pair_rows<fma, 3, RealFma, R, With<R>>(rows), ...);
}

// --- an f16 or bf16 operand, or the two factors of an fma, are widened exactly ---

template <class Half, class F, bool Sat>
struct Mixed {
  float operator()(U32 a, float c) const { return Single<F, false, Sat>{}(Half::value(a), c); }
  float operator()(U32 a, U32 b, float c) const {
    return Single<F, false, Sat>{}(Half::value(a), Half::value(b), c);
  }
};
template <class Half, bool Sat, Mod Direction, class Mods>
void mixed_rows(Rows& rows) {
  constexpr Type T = Half::type;
  static constexpr Row table[] = {
      {add,
       {f32, T},
       Mods::set,
       {f32, T, f32},
       in_direction<binary<float, U16, float, Mixed<Half, RealAdd, Sat>>, Direction>},
      {sub,
       {f32, T},
       Mods::set,
       {f32, T, f32},
       in_direction<binary<float, U16, float, Mixed<Half, RealSub, Sat>>, Direction>}};
  add_rows(rows, table);
}
template <class Half, bool Sat, Mod Direction, class Mods>
void mixed_fma_rows(Rows& rows) {
  constexpr Type T = Half::type;
  static constexpr Row table[] = {
      {fma,
       {f32, T},
       Mods::set,
       {f32, T, T, f32},
       in_direction<ternary<float, U16, U16, float, Mixed<Half, RealFma, Sat>>, Direction>}};
  add_rows(rows, table);
}
template <class Half, Mod... R>
void all_mixed_rows(Rows& rows) {
  (mixed_rows<Half, false, R, With<R>>(rows), ...);
  (mixed_rows<Half, true, R, With<R, Mod::sat>>(rows), ...);
  (mixed_fma_rows<Half, false, R, With<R>>(rows), ...);
  (mixed_fma_rows<Half, true, R, With<R, Mod::sat>>(rows), ...);
}

// Without a direction, add, sub and mul round to nearest.
void default_rows(Rows& rows) {
  pair_rows<add, 2, RealAdd, Mod::rn, With<>>(rows);
  pair_rows<sub, 2, RealSub, Mod::rn, With<>>(rows);
  pair_rows<mul, 2, RealMul, Mod::rn, With<>>(rows);
  mixed_rows<F16, false, Mod::rn, With<>>(rows);
  mixed_rows<F16, true, Mod::rn, With<Mod::sat>>(rows);
  mixed_rows<Bf16, false, Mod::rn, With<>>(rows);
  mixed_rows<Bf16, true, Mod::rn, With<Mod::sat>>(rows);
}

}  // namespace

void floating_pairs_rows(Rows& rows) {
  default_rows(rows);
  all_pair_rows<Mod::rn, Mod::rz, Mod::rm, Mod::rp>(rows);
  all_mixed_rows<F16, Mod::rn, Mod::rz, Mod::rm, Mod::rp>(rows);
  all_mixed_rows<Bf16, Mod::rn, Mod::rz, Mod::rm, Mod::rp>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
