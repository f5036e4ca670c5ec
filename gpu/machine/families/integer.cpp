// Integer arithmetic of 16 and 32 bits and packed pairs (PTX ISA 9.7.1).
#include "gpu/machine/families/integer.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

// add.sat.s32, sub.sat.s32, mad.hi.sat.s32: clamped to the type's range instead of wrapping.
struct AddSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return clamp_s32(std::int64_t{a} + b);
  }
};
struct SubSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return clamp_s32(std::int64_t{a} - b);
  }
};
struct MadHiSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
    return clamp_s32((std::int64_t{a} * b >> 32) + c);
  }
};

// mul24, mad24: the 24 low bits of each factor make a 48-bit product (PTX ISA, "mul24").
template <class T>
std::int64_t product24(T a, T b) {
  constexpr int spare = 8;
  const std::int64_t x = static_cast<T>(to_bits(a) << spare) >> spare;
  const std::int64_t y = static_cast<T>(to_bits(b) << spare) >> spare;
  return x * y;
}
struct Mul24Lo {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(product24(a, b));
  }
};
struct Mul24Hi {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(product24(a, b) >> 16);
  }
};
template <class Product>
struct Mad24 {
  template <class T>
  T operator()(T a, T b, T c) const {
    return static_cast<T>(to_bits(Product{}(a, b)) + to_bits(c));
  }
};
struct Mad24HiSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
    return clamp_s32(std::int64_t{Mul24Hi{}(a, b)} + c);
  }
};

// dp4a, dp2a: sums of products of bytes, or of half words and bytes.
template <class T>
std::int32_t byte(T word, int i) {
  using Byte = typename Word<1>::bits;
  const auto b = static_cast<Byte>(to_bits(word) >> (8 * i));
  return std::is_signed_v<T> ? static_cast<std::int8_t>(b) : b;
}
template <class T>
std::int32_t half_word(T word, int i) {
  const auto h = static_cast<std::uint16_t>(to_bits(word) >> (16 * i));
  return std::is_signed_v<T> ? static_cast<std::int16_t>(h) : h;
}
struct Dp4a {
  template <class A, class B>
  std::uint32_t operator()(A a, B b, std::uint32_t c) const {
    for (int i = 0; i < 4; ++i) c += static_cast<std::uint32_t>(byte(a, i) * byte(b, i));
    return c;
  }
};
template <int First>
struct Dp2a {
  template <class A, class B>
  std::uint32_t operator()(A a, B b, std::uint32_t c) const {
    for (int i = 0; i < 2; ++i)
      c += static_cast<std::uint32_t>(half_word(a, i) * byte(b, First + i));
    return c;
  }
};

// Applies a functor on int16_t or uint16_t to one half of a packed pair, passed in a word.
template <class T, class F>
struct OnHalf {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return static_cast<std::uint16_t>(F{}(static_cast<T>(a), static_cast<T>(b)));
  }
};
template <Opcode O, class Mods, class F, Type... T>
void pairs(Rows& rows) {
  static constexpr Row table[] = {
      Row{O,
          {T},
          Mods::set,
          {T, T, T},
          binary<std::uint32_t, std::uint32_t, std::uint32_t,
                 Both<OnHalf<Lane<T == Type::s16x2 ? Type::s16 : Type::u16>, F>>>}...};
  add_rows(rows, table);
}
// max.relu, min.relu: a negative result becomes 0.
template <class F>
struct Relu {
  template <class T>
  T operator()(T a, T b) const {
    const T r = F{}(a, b);
    return r < 0 ? T{0} : r;
  }
};

template <class F, Type A, Type B>
constexpr Handler dot = ternary<std::uint32_t, Lane<A>, Lane<B>, std::uint32_t, F>;
template <Opcode O, class Mods, class F>
void dots(Rows& rows) {
  using enum Type;
  static constexpr Row table[] = {
      {O, {u32, u32}, Mods::set, {u32, u32, u32, u32}, dot<F, u32, u32>},
      {O, {u32, s32}, Mods::set, {s32, u32, s32, s32}, dot<F, u32, s32>},
      {O, {s32, u32}, Mods::set, {s32, s32, u32, s32}, dot<F, s32, u32>},
      {O, {s32, s32}, Mods::set, {s32, s32, s32, s32}, dot<F, s32, s32>},
  };
  add_rows(rows, table);
}

template <class F, Type T>
constexpr Handler wide2 = binary<Lane<Wide<T>>, Lane<T>, Lane<T>, F>;
template <class F, Type T>
constexpr Handler wide3 = ternary<Lane<Wide<T>>, Lane<T>, Lane<T>, Lane<Wide<T>>, F>;
template <Type... T>
void wide_products(Rows& rows) {
  static constexpr Row table[] = {
      Row{Opcode::mul, {T}, {Mod::wide}, {Wide<T>, T, T}, wide2<MulWide, T>}...,
      Row{Opcode::mad, {T}, {Mod::wide}, {Wide<T>, T, T, Wide<T>}, wide3<MadWide, T>}...};
  add_rows(rows, table);
}

void saturating_rows(Rows& rows) {
  using enum Type;
  using enum Opcode;
  binaries<add, With<Mod::sat>, AddSat, s32>(rows);
  binaries<sub, With<Mod::sat>, SubSat, s32>(rows);
  ternaries<mad, With<Mod::hi, Mod::sat>, MadHiSat, s32>(rows);
}
void rows_of_24_bits(Rows& rows) {
  using enum Type;
  using enum Opcode;
  binaries<mul24, With<Mod::lo>, Mul24Lo, u32, s32>(rows);
  binaries<mul24, With<Mod::hi>, Mul24Hi, u32, s32>(rows);
  ternaries<mad24, With<Mod::lo>, Mad24<Mul24Lo>, u32, s32>(rows);
  ternaries<mad24, With<Mod::hi>, Mad24<Mul24Hi>, u32, s32>(rows);
  ternaries<mad24, With<Mod::hi, Mod::sat>, Mad24HiSat, s32>(rows);
}
void pair_rows(Rows& rows) {
  using enum Type;
  using enum Opcode;
  pairs<add, With<>, Add, u16x2, s16x2>(rows);
  pairs<min, With<>, Min, u16x2, s16x2>(rows);
  pairs<max, With<>, Max, u16x2, s16x2>(rows);
  pairs<min, With<Mod::relu>, Relu<Min>, s16x2>(rows);
  pairs<max, With<Mod::relu>, Relu<Max>, s16x2>(rows);
  binaries<min, With<Mod::relu>, Relu<Min>, s32>(rows);
  binaries<max, With<Mod::relu>, Relu<Max>, s32>(rows);
}

}  // namespace

void integer_rows(Rows& rows) {
  using enum Type;
  common_integer_rows<u16, s16>(rows);
  common_integer_rows<u32, s32>(rows);
  wide_products<u16, s16, u32, s32>(rows);
  saturating_rows(rows);
  rows_of_24_bits(rows);
  pair_rows(rows);
  dots<Opcode::dp4a, With<>, Dp4a>(rows);
  dots<Opcode::dp2a, With<Mod::lo>, Dp2a<0>>(rows);
  dots<Opcode::dp2a, With<Mod::hi>, Dp2a<2>>(rows);
  carry_rows<u32, s32>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
