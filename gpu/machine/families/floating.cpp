// f32 and f64 arithmetic rounded to nearest, minima, signs and tests (PTX ISA 9.7.3).
#include "gpu/machine/families/mask.hpp"
#include "gpu/machine/families/real.hpp"
#include "gpu/machine/lowering/lowering.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

// add, sub and mul without a rounding modifier round to nearest.
template <Opcode O, class F>
void default_rows(Rows& rows) {
  single_rows<O, 2, F, false, With<>, Mod::rn>(rows);
  single_rows<O, 2, F, true, With<Mod::sat>, Mod::rn>(rows);
  binaries<O, With<>, Double<F>, f64>(rows);
}

// The sums of contractions (instruction/contraction.hpp).
template <bool MinusProduct, bool MinusAddend, Mod... Signs>
void contraction_rows(Rows& rows) {
  using F = RealSignedFma<MinusProduct, MinusAddend>;
  single_rows<fma, 3, F, false, With<Mod::rn, Signs...>, Mod::rn>(rows);
  single_rows<fma, 3, F, true, With<Mod::rn, Mod::sat, Signs...>, Mod::rn>(rows);
  ternaries<fma, With<Mod::rn, Signs...>, Double<F>, f64>(rows);
}

// --- min, max: -0 is less than +0; a number wins over a NaN except with .NaN (PTX ISA, "min") ---

template <class T>
constexpr BitsOf<T> sign_bit = BitsOf<T>{1} << (8 * sizeof(T) - 1);
template <class T>
T absolute(T a) {
  return from_bits<T>(to_bits(a) & ~sign_bit<T>);
}
inline float any_nan(float, float) { return canonical_nan(); }
inline double any_nan(double a, double b) { return nan_of(a, b); }

struct Lesser {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b < a ? b : from_bits<T>(to_bits(a) | to_bits(b));
  }
};
struct Greater {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : b < a ? a : from_bits<T>(to_bits(a) & to_bits(b));
  }
};
template <class F, bool Ftz, bool Nan, bool Xorsign>
struct Extreme {
  template <class T>
  [[gnu::always_inline]] T operator()(T a, T b) const {
    if constexpr (sizeof(T) == 4) a = flush_if<Ftz>(a), b = flush_if<Ftz>(b);
    if constexpr (!Xorsign) return of(a, b);
    return with_sign(of(absolute(a), absolute(b)), to_bits(a) ^ to_bits(b));
  }

 private:
  template <class T>
  [[gnu::always_inline]] static T of(T a, T b) {
    const bool x = a != a, y = b != b;
    const T chosen = pick(x, b, pick(y, a, F{}(a, b)));
    return pick(Nan ? x | y : x & y, any_nan(a, b), chosen);
  }
  template <class T>
  static T with_sign(T value, BitsOf<T> sign) {
    return pick(value != value, value, from_bits<T>(to_bits(value) | (sign & sign_bit<T>)));
  }
};
// Of three values, or of their magnitudes.
template <class F, bool Ftz, bool Nan, bool Abs>
struct ExtremeOfThree {
  float operator()(float a, float b, float c) const {
    constexpr Extreme<F, Ftz, Nan, false> of_two{};
    return of_two(of_two(one(a), one(b)), one(c));
  }

 private:
  static float one(float x) { return Abs ? absolute(x) : x; }
};
// Binds two sources, or three: only f32 has a third.
template <Handler OfTwo, Handler OfThree>
bool lower_extreme(Lowering& lo, const Row& row) {
  const auto o = lo.operands;
  const Handler handler = o.size() == 4 ? OfThree : o.size() == 3 ? OfTwo : nullptr;
  if (!handler) return lo.refuse("it takes another number of operands");
  if (o.size() == 4 && !lo.on_target(100, "a minimum or maximum of three")) return false;
  const Type type = row.types[0];
  Ref refs[3] = {no_ref, no_ref, no_ref};
  for (std::size_t i = 1; i < o.size(); ++i)
    if ((refs[i - 1] = lo.source(o[i], type)) == no_ref) return false;
  const Ref d = lo.destination(o[0], type);
  if (d == no_ref) return false;
  Op& op = lo.emit(handler);
  op.d = d, op.a = refs[0], op.b = refs[1], op.c = refs[2];
  return true;
}
template <Opcode O, class F, bool Ftz, bool Nan, class Mods>
void extreme_rows_of(Rows& rows) {
  constexpr Handler of_two = binary<float, float, float, Extreme<F, Ftz, Nan, false>>;
  constexpr Handler of_three =
      ternary<float, float, float, float, ExtremeOfThree<F, Ftz, Nan, false>>;
  constexpr Handler of_magnitudes =
      ternary<float, float, float, float, ExtremeOfThree<F, Ftz, Nan, true>>;
  static constexpr Row table[] = {
      {O, {f32}, Mods::set, {f32, f32, f32}, of_two, lower_extreme<of_two, of_three>},
      {O,
       {f32},
       Mods::set | With<Mod::abs>::set,
       {f32, f32, f32, f32},
       of_magnitudes,
       lower_extreme<nullptr, of_magnitudes>}};
  add_rows(rows, table);
}
template <Opcode O, class F>
void extreme_rows(Rows& rows) {
  using enum Mod;
  binaries<O, With<>, Extreme<F, false, false, false>, f64>(rows);
  extreme_rows_of<O, F, false, false, With<>>(rows);
  extreme_rows_of<O, F, true, false, With<ftz>>(rows);
  extreme_rows_of<O, F, false, true, With<NaN>>(rows);
  extreme_rows_of<O, F, true, true, With<ftz, NaN>>(rows);
  binaries<O, With<xorsign, Mod::abs>, Extreme<F, false, false, true>, f32>(rows);
  binaries<O, With<ftz, xorsign, Mod::abs>, Extreme<F, true, false, true>, f32>(rows);
  binaries<O, With<NaN, xorsign, Mod::abs>, Extreme<F, false, true, true>, f32>(rows);
  binaries<O, With<ftz, NaN, xorsign, Mod::abs>, Extreme<F, true, true, true>, f32>(rows);
}

// --- signs, as on an H200: an f32 NaN becomes canonical, an f64 NaN quiet with its sign kept ---

inline float sign_or_nan(float a, float changed) { return pick(a != a, canonical_nan(), changed); }
inline double sign_or_nan(double a, double changed) { return pick(is_nan(a), quiet(a), changed); }

template <bool Ftz>
struct RealAbs {
  template <class T>
  T operator()(T a) const {
    if constexpr (sizeof(T) == 4) a = flush_if<Ftz>(a);
    return sign_or_nan(a, absolute(a));
  }
};
template <bool Ftz>
struct RealNeg {
  template <class T>
  T operator()(T a) const {
    if constexpr (sizeof(T) == 4) a = flush_if<Ftz>(a);
    return sign_or_nan(a, from_bits<T>(to_bits(a) ^ sign_bit<T>));
  }
};
// copysign d, a, b: b with the sign of a.
struct CopySign {
  template <class T>
  T operator()(T a, T b) const {
    return from_bits<T>((to_bits(b) & ~sign_bit<T>) | (to_bits(a) & sign_bit<T>));
  }
};

// --- testp ---

template <class T>
constexpr BitsOf<T> infinity_bits = sizeof(T) == 4 ? BitsOf<T>(0x7f800000)
                                                   : BitsOf<T>(0x7ff0000000000000);
template <class T>
constexpr BitsOf<T> least_normal_bits = BitsOf<T>{1} << (sizeof(T) == 4 ? 23 : 52);
template <Mod Question>
struct Is {
  template <class T>
  bool operator()(T a) const {
    const auto m = to_bits(absolute(a));
    switch (Question) {
      case Mod::finite:
        return m < infinity_bits<T>;
      case Mod::infinite:
        return m == infinity_bits<T>;
      case Mod::number:
        return m <= infinity_bits<T>;
      case Mod::notanumber:
        return m > infinity_bits<T>;
      case Mod::normal:
        return m == 0 || (m >= least_normal_bits<T> && m < infinity_bits<T>);  // as an H200
      default:
        return m != 0 && m < least_normal_bits<T>;
    }
  }
};
template <class T, class F>
const Op* test(Warp& w, const Op* op) {
  const T* a = w.at<T>(op->a);
  w.set_predicate(op->d, lane_bits<T>([=](int l) { return F{}(a[l]); }));
  return op + 1;
}
template <Mod... Question>
void test_rows(Rows& rows) {
  static constexpr Row table[] = {
      Row{testp, {f32}, {Question}, {pred, f32}, test<float, Is<Question>>}...,
      Row{testp, {f64}, {Question}, {pred, f64}, test<double, Is<Question>>}...};
  add_rows(rows, table);
}

void sign_rows(Rows& rows) {
  unaries<Opcode::abs, With<>, RealAbs<false>, f32, f64>(rows);
  unaries<Opcode::abs, With<Mod::ftz>, RealAbs<true>, f32>(rows);
  unaries<neg, With<>, RealNeg<false>, f32, f64>(rows);
  unaries<neg, With<Mod::ftz>, RealNeg<true>, f32>(rows);
  binaries<copysign, With<>, CopySign, f32, f64>(rows);
}

}  // namespace

void floating_rows(Rows& rows) {
  arithmetic_rows<Mod::rn>(rows);
  default_rows<add, RealAdd>(rows);
  default_rows<sub, RealSub>(rows);
  default_rows<mul, RealMul>(rows);
  contraction_rows<true, false, Mod::minus_product>(rows);
  contraction_rows<false, true, Mod::minus_addend>(rows);
  contraction_rows<true, true, Mod::minus_product, Mod::minus_addend>(rows);
  extreme_rows<Opcode::min, Lesser>(rows);
  extreme_rows<Opcode::max, Greater>(rows);
  sign_rows(rows);
  test_rows<Mod::finite, Mod::infinite, Mod::number, Mod::notanumber, Mod::normal, Mod::subnormal>(
      rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
