// Builds rows as compile-time tables from a family's lists of operations and types. The compiler
// evaluates everything, so family files contain only data and handlers.
#pragma once
#include <cstddef>

#include "gpu/machine/families/lanes.hpp"

namespace inflight::machine::INFLIGHT_ISA {

using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Type;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

// The C++ type of one lane. Packed and half types are represented by their bits.
template <unsigned Size>
struct Word;
template <>
struct Word<1> {
  using bits = std::uint8_t;
  using whole = std::int8_t;
};
template <>
struct Word<2> {
  using bits = std::uint16_t;
  using whole = std::int16_t;
};
template <>
struct Word<4> {
  using bits = std::uint32_t;
  using whole = std::int32_t;
  using real = float;
};
template <>
struct Word<8> {
  using bits = std::uint64_t;
  using whole = std::int64_t;
  using real = double;
};
template <Type T>
struct LaneType {
  using type = typename Word<ptx::size_of(T)>::bits;
};
template <Type T>
requires(ptx::is_signed(T)) struct LaneType<T> {
  using type = typename Word<ptx::size_of(T)>::whole;
};
template <Type T>
requires(T == Type::f32 || T == Type::f64) struct LaneType<T> {
  using type = typename Word<ptx::size_of(T)>::real;
};
template <Type T>
using Lane = typename LaneType<T>::type;
template <Type T>
using Bits = typename Word<ptx::size_of(T)>::bits;
template <class T>
using BitsOf = typename Word<sizeof(T)>::bits;
template <class T>
using SignedOf = typename Word<sizeof(T)>::whole;

template <class T>
[[gnu::always_inline]] inline BitsOf<T> to_bits(T value) {
  return __builtin_bit_cast(BitsOf<T>, value);
}
template <class T>
[[gnu::always_inline]] inline T from_bits(BitsOf<T> bits) {
  return __builtin_bit_cast(T, bits);
}

// condition ? yes : no without a branch, so that a loop over lanes stays SIMD.
template <class T>
[[gnu::always_inline]] inline T pick(bool condition, T yes, T no) {
  using B = BitsOf<T>;
  const B mask = static_cast<B>(B{0} - B{condition});
  return from_bits<T>(static_cast<B>((to_bits(yes) & mask) | (to_bits(no) & ~mask)));
}

// A modifier list as a type.
template <Mod... M>
struct With {
  static constexpr ModSet set{M...};
};

template <std::size_t N>
void add_rows(Rows& rows, const Row (&table)[N]) {
  for (const Row& row : table) add(rows, row);
}

// One row for each type of T: `op.mods.T d, a ...` with every operand a T.
template <Opcode O, class Mods, class F, Type... T>
void unaries(Rows& rows) {
  static constexpr Row table[] = {Row{O, {T}, Mods::set, {T, T}, unary<Lane<T>, Lane<T>, F>}...};
  add_rows(rows, table);
}
template <Opcode O, class Mods, class F, Type... T>
void binaries(Rows& rows) {
  static constexpr Row table[] = {
      Row{O, {T}, Mods::set, {T, T, T}, binary<Lane<T>, Lane<T>, Lane<T>, F>}...};
  add_rows(rows, table);
}
template <Opcode O, class Mods, class F, Type... T>
void ternaries(Rows& rows) {
  static constexpr Row table[] = {
      Row{O, {T}, Mods::set, {T, T, T, T}, ternary<Lane<T>, Lane<T>, Lane<T>, Lane<T>, F>}...};
  add_rows(rows, table);
}

// The same for operations that do not depend on the type's sign: lanes are unsigned bits.
template <Opcode O, class Mods, class F, Type... T>
void bit_unaries(Rows& rows) {
  static constexpr Row table[] = {Row{O, {T}, Mods::set, {T, T}, unary<Bits<T>, Bits<T>, F>}...};
  add_rows(rows, table);
}
template <Opcode O, class Mods, class F, Type... T>
void bit_binaries(Rows& rows) {
  static constexpr Row table[] = {
      Row{O, {T}, Mods::set, {T, T, T}, binary<Bits<T>, Bits<T>, Bits<T>, F>}...};
  add_rows(rows, table);
}
template <Opcode O, class Mods, class F, Type... T>
void bit_ternaries(Rows& rows) {
  static constexpr Row table[] = {
      Row{O, {T}, Mods::set, {T, T, T, T}, ternary<Bits<T>, Bits<T>, Bits<T>, Bits<T>, F>}...};
  add_rows(rows, table);
}

// Applies a functor on one 16-bit half (in the low bits of a word) to both halves of a word.
template <class F>
struct Both {
  [[gnu::always_inline]] U32 operator()(U32 a) const {
    return (F{}(a & 0xffff) & 0xffff) | F{}(a >> 16) << 16;
  }
  [[gnu::always_inline]] U32 operator()(U32 a, U32 b) const {
    return (F{}(a & 0xffff, b & 0xffff) & 0xffff) | F{}(a >> 16, b >> 16) << 16;
  }
  [[gnu::always_inline]] U32 operator()(U32 a, U32 b, U32 c) const {
    return (F{}(a & 0xffff, b & 0xffff, c & 0xffff) & 0xffff) | F{}(a >> 16, b >> 16, c >> 16)
                                                                    << 16;
  }
};

}  // namespace inflight::machine::INFLIGHT_ISA
