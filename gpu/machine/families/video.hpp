// Shared by the video instructions (PTX ISA 9.7.17): operations on extended operands, parts of a
// word, and operand flags. Included only by files compiled for each instruction set.
#pragma once
#include "gpu/machine/families/integer.hpp"
#include "gpu/machine/lowering/lowering.hpp"

namespace inflight::machine::INFLIGHT_ISA::video {

using enum Type;

// --- operations on sign- or zero-extended operands ---

struct Plus {
  static S64 of(S64 a, S64 b) { return a + b; }
};
struct Minus {
  static S64 of(S64 a, S64 b) { return a - b; }
};
struct Difference {
  static constexpr bool is_magnitude = true;
  static S64 of(S64 a, S64 b) { return a < b ? b - a : a - b; }
};
struct Least {
  static S64 of(S64 a, S64 b) { return b < a ? b : a; }
};
struct Most {
  static S64 of(S64 a, S64 b) { return a < b ? b : a; }
};
template <Mod Question>
struct Test {
  static S64 of(S64 a, S64 b) {
    switch (Question) {
      case Mod::eq:
        return a == b;
      case Mod::ne:
        return a != b;
      case Mod::lt:
        return a < b;
      case Mod::le:
        return a <= b;
      case Mod::gt:
        return a > b;
      default:
        return a >= b;
    }
  }
};

// Flags in Op::detail. These instructions are rare, so one loop serves all types.
enum Detail : std::uint16_t {
  signed_a = 1,
  signed_b = 2,
  signed_d = 4,
  saturates = 8,
  second_add = 16,
  second_min = 32,
  second_max = 64,
  minus_product = 128,  // vmad
  minus_c = 256,
  plus_one = 512,
  merges = 1024,  // into part of c: Op::imm is its Part
};
inline std::uint16_t detail_of(Type d, Type a, Type b, const ModSet& mods) {
  return (a == s32 ? signed_a : 0) | (b == s32 ? signed_b : 0) | (d == s32 ? signed_d : 0) |
         (mods.has(Mod::sat) ? saturates : 0) | (mods.has(Mod::add) ? second_add : 0) |
         (mods.has(Mod::min) ? second_min : 0) | (mods.has(Mod::max) ? second_max : 0) |
         (mods.has(Mod::po) ? plus_one : 0);
}
inline S64 extended(U32 word, bool is_signed) {
  return is_signed ? S64{static_cast<S32>(word)} : S64{word};
}
// `v` clamped to the range of a `width`-bit integer.
inline S64 clamped(S64 v, bool is_signed, int width) {
  const S64 high = (S64{1} << (width - is_signed)) - 1, low = is_signed ? -high - 1 : 0;
  return v < low ? low : v > high ? high : v;
}

// A byte or a half of a word.
struct Part {
  int shift, width;
  static Part of(const ptx::Selector& s) {
    const int width = s.unit == 'b' ? 8 : 16;
    return {s.parts[0] * width, width};
  }
  static Part of(std::int64_t imm) {
    return {static_cast<int>(imm & 31), static_cast<int>(imm >> 8)};
  }
  std::int64_t value() const { return width << 8 | shift; }
  U32 mask() const { return ((1u << width) - 1) << shift; }
  U32 extract(U32 word, bool is_signed) const {
    const U32 top = word << (32 - width - shift);
    return static_cast<U32>(extended(top, is_signed) >> (32 - width));
  }
  U32 merge(U32 value, U32 into) const { return (into & ~mask()) | (value << shift & mask()); }
  // Merges a scalar instruction's result. An H200 writes the high half of the value to .h1.
  U32 merge_scalar(U32 value, U32 into) const {
    return merge(width == 16 ? value >> shift : value, into);
  }
  // `v` saturated to this part. Negative values also become the greatest value, as on an H200.
  S64 saturated(S64 v, bool is_signed) const {
    const S64 most = (S64{1} << (width - is_signed)) - 1;
    return v < 0 || v > most ? most : v;
  }
};

// --- lowering ---

// The types as written: D, A, B; or A, B of a test, whose result is unsigned.
struct Types {
  Type d, a, b;
};
inline Types types_of(const Row& row) {
  if (row.types[2] == Type::none) return {u32, row.types[0], row.types[1]};
  return {row.types[0], row.types[1], row.types[2]};
}
inline ptx::Selector selector_of(const ptx::Operand& o) {
  return o.kind == ptx::Operand::Kind::reg ? ptx::Selector::of(o.value) : ptx::Selector{};
}
inline bool wrong_operands(Lowering& lo) {
  return lo.refuse("this video instruction has the wrong number of operands or the wrong selector");
}
inline Op* emit(Lowering& lo, const Row& row, const Types& t, Ref a, Ref b, Ref c) {
  const Ref d = lo.destination(lo.operands[0], t.d);
  Op& op = lo.emit(row.handler);
  op.d = d, op.a = a, op.b = b, op.c = c;
  op.detail = detail_of(t.d, t.a, t.b, row.mods);
  return &op;
}

constexpr Type types[] = {u32, s32};
template <class F>
void for_types(F f) {
  for (const Type d : types)
    for (const Type a : types)
      for (const Type b : types) f(d, a, b);
}

}  // namespace inflight::machine::INFLIGHT_ISA::video
