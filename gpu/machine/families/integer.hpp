// Integer arithmetic of all widths (PTX ISA 9.7.1, 9.7.2).
#pragma once
#include <type_traits>

#include "gpu/machine/families/mask.hpp"
#include "gpu/machine/families/rows.hpp"

namespace inflight::machine::INFLIGHT_ISA {

// The type of a product of full width.
template <Type T>
inline constexpr Type Wide = T == Type::u16   ? Type::u32
                             : T == Type::s16 ? Type::s32
                             : T == Type::u32 ? Type::u64
                                              : Type::s64;
// A C++ type that holds any product of two T.
template <class T>
struct ProductOf {
  using type = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
};
template <>
struct ProductOf<std::int64_t> {
  using type = __int128;
};
template <>
struct ProductOf<std::uint64_t> {
  using type = unsigned __int128;
};
template <class T>
using Product = typename ProductOf<T>::type;

inline std::int32_t clamp_s32(std::int64_t v) {
  v = v < INT32_MIN ? INT32_MIN : v;
  return static_cast<std::int32_t>(v > INT32_MAX ? INT32_MAX : v);
}

// On unsigned bits: two's complement wraps.
struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a - b);
  }
};
struct Neg {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(T{0} - a);
  }
};
struct MulLo {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(1u * a * b);
  }
};
struct MadLo {
  template <class T>
  T operator()(T a, T b, T c) const {
    return static_cast<T>(1u * a * b + c);
  }
};

// On signed or unsigned values.
struct MulHi {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Product<T>{a} * b >> (8 * sizeof(T)));
  }
};
struct MadHi {
  template <class T>
  T operator()(T a, T b, T c) const {
    return static_cast<T>(to_bits(MulHi{}(a, b)) + to_bits(c));
  }
};
struct MulWide {
  std::uint32_t operator()(std::uint16_t a, std::uint16_t b) const { return 1u * a * b; }
  std::int32_t operator()(std::int16_t a, std::int16_t b) const { return a * b; }
  std::uint64_t operator()(std::uint32_t a, std::uint32_t b) const { return std::uint64_t{a} * b; }
  std::int64_t operator()(std::int32_t a, std::int32_t b) const { return std::int64_t{a} * b; }
};
struct MadWide {
  template <class T, class W>
  W operator()(T a, T b, W c) const {
    return static_cast<W>(to_bits(MulWide{}(a, b)) + to_bits(c));
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Abs {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(a < 0 ? 0 - to_bits(a) : to_bits(a));
  }
};
struct Sad {
  template <class T>
  T operator()(T a, T b, T c) const {
    const auto x = to_bits(a), y = to_bits(b);
    return static_cast<T>(to_bits(c) + (a < b ? y - x : x - y));
  }
};

// A division by zero gives all ones. The most negative value by -1 gives itself.
template <class T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(0 - to_bits(a));
  return static_cast<T>(a / b);
}
struct Div {
  template <class T>
  T operator()(T a, T b) const {
    return quotient(a, b);
  }
  // 32 bits and less use doubles, which SIMD can divide. If a quotient of integers below 2^32 is no
  // integer, it differs from every integer by more than a double's rounding error.
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return divided(a, b); }
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    const std::uint32_t x = to_bits(Abs{}(a)), y = to_bits(Abs{}(b));
    const std::uint32_t q = divided(x, y);
    return static_cast<std::int32_t>(b == 0 ? ~0u : (a ^ b) < 0 ? 0 - q : q);
  }
  std::uint16_t operator()(std::uint16_t a, std::uint16_t b) const {
    return static_cast<std::uint16_t>((*this)(std::uint32_t{a}, std::uint32_t{b}));
  }
  std::int16_t operator()(std::int16_t a, std::int16_t b) const {
    return static_cast<std::int16_t>((*this)(std::int32_t{a}, std::int32_t{b}));
  }

 private:
  static constexpr double two52 = 4503599627370496.0;
  static double real(std::uint32_t v) { return from_bits<double>(0x4330000000000000u | v) - two52; }
  static std::uint32_t divided(std::uint32_t a, std::uint32_t b) {
    const double q = real(a) / real(b);
    const double nearest = q + two52;
    const auto bits = static_cast<std::uint32_t>(to_bits(nearest));
    const std::uint32_t r = nearest - two52 > q ? bits - 1 : bits;
    return b == 0 ? ~0u : r;
  }
};
struct Rem {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~T{0});
    return static_cast<T>(to_bits(a) - 1u * to_bits(Div{}(a, b)) * to_bits(b));
  }
};

// The rows of one width; U and S are its unsigned and signed types.
template <Type U, Type S>
void common_integer_rows(Rows& rows) {
  using enum Opcode;
  bit_binaries<add, With<>, Add, U, S>(rows);
  bit_binaries<sub, With<>, Sub, U, S>(rows);
  bit_binaries<mul, With<Mod::lo>, MulLo, U, S>(rows);
  bit_ternaries<mad, With<Mod::lo>, MadLo, U, S>(rows);
  binaries<mul, With<Mod::hi>, MulHi, U, S>(rows);
  ternaries<mad, With<Mod::hi>, MadHi, U, S>(rows);
  binaries<div, With<>, Div, U, S>(rows);
  binaries<rem, With<>, Rem, U, S>(rows);
  binaries<min, With<>, Min, U, S>(rows);
  binaries<max, With<>, Max, U, S>(rows);
  ternaries<sad, With<>, Sad, U, S>(rows);
  bit_unaries<neg, With<>, Neg, S>(rows);
  unaries<abs, With<>, Abs, S>(rows);
}

// --- extended precision: the carry flag, a bit a lane in Warp::carry (PTX ISA 9.7.2) ---

inline void set_carry(Warp& w, std::uint32_t bits) {
  w.carry = (w.carry & ~w.mask) | (bits & w.mask);
}
// The sum a + b + carry, and its carry out. A subtraction is a + ~b + 1, and its flag is that sum's
// carry, the complement of the borrow. nvcc's 128-bit division reads this flag with addc.
struct CarryAdd {
  static constexpr int none = 0;  // the carry in of forms that read no flag
  template <class U>
  static U sum(U a, U b, U in) {
    return a + b + in;
  }
  template <class U>
  static bool out(U a, U b, U in) {
    return a + b < a || (in && a + b == static_cast<U>(~U{0}));
  }
};
struct CarrySub {
  static constexpr int none = 1;
  template <class U>
  static U sum(U a, U b, U in) {
    return CarryAdd::sum<U>(a, ~b, in);
  }
  template <class U>
  static bool out(U a, U b, U in) {
    return CarryAdd::out<U>(a, ~b, in);
  }
};
// The first addend: `a`, or the low or high half of a product.
struct First {
  template <class T>
  BitsOf<T> operator()(const T* a, const T*, int l) const {
    return to_bits(a[l]);
  }
};
template <class F>
struct ProductFirst {
  template <class T>
  BitsOf<T> operator()(const T* a, const T* b, int l) const {
    return to_bits(F{}(a[l], b[l]));
  }
};

template <class T, class Operation, class Left, bool In, bool Out>
const Op* with_carry(Warp& w, const Op* op) {
  using U = BitsOf<T>;
  constexpr bool product = !std::is_same_v<Left, First>;
  const T* a = w.at<T>(op->a);
  const T* b = w.at<T>(op->b);
  const U* right = w.at<U>(product ? op->c : op->b);
  const std::uint32_t carry = w.carry;
  const auto in = [=](int l) { return In ? static_cast<U>((carry >> l) & 1) : U{Operation::none}; };
  if constexpr (Out)
    set_carry(w, lane_bits<U>([=](int l) {
                return Operation::template out<U>(Left{}(a, b, l), right[l], in(l));
              }));
  write<U>(w, op->d,
           [=](int l) { return Operation::template sum<U>(Left{}(a, b, l), right[l], in(l)); });
  return op + 1;
}

template <Opcode Plain, Opcode WithCarry, class Operation, Type T>
void carried_sums(Rows& rows) {
  static constexpr Row table[] = {
      {Plain, {T}, {Mod::cc}, {T, T, T}, with_carry<Bits<T>, Operation, First, false, true>},
      {WithCarry, {T}, {}, {T, T, T}, with_carry<Bits<T>, Operation, First, true, false>},
      {WithCarry, {T}, {Mod::cc}, {T, T, T}, with_carry<Bits<T>, Operation, First, true, true>},
  };
  add_rows(rows, table);
}
template <class F, Mod Half, class L, Type T>
void carried_products(Rows& rows) {
  using P = ProductFirst<F>;
  using enum Opcode;
  static constexpr Row table[] = {
      {mad, {T}, {Half, Mod::cc}, {T, T, T, T}, with_carry<L, CarryAdd, P, false, true>},
      {madc, {T}, {Half}, {T, T, T, T}, with_carry<L, CarryAdd, P, true, false>},
      {madc, {T}, {Half, Mod::cc}, {T, T, T, T}, with_carry<L, CarryAdd, P, true, true>},
  };
  add_rows(rows, table);
}
template <Type T>
void carry_rows_of(Rows& rows) {
  using enum Opcode;
  carried_sums<add, addc, CarryAdd, T>(rows);
  carried_sums<sub, subc, CarrySub, T>(rows);
  carried_products<MulLo, Mod::lo, Bits<T>, T>(rows);
  carried_products<MulHi, Mod::hi, Lane<T>, T>(rows);
}
template <Type... T>
void carry_rows(Rows& rows) {
  (carry_rows_of<T>(rows), ...);
}

}  // namespace inflight::machine::INFLIGHT_ISA
