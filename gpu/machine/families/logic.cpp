// Logic and selection (PTX ISA 9.7.6 and 9.7.8).
#include "gpu/machine/families/mask.hpp"
#include "gpu/machine/families/rows.hpp"
#include "gpu/machine/lowering/lowering.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

// --- logic ---

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <class T>
  T operator()(T a) const {
    return a == 0;
  }
};

template <class F>
const Op* predicate_binary(Warp& w, const Op* op) {
  const U32 a = w.predicate(op->a, op->flags & Op::negate_a);
  const U32 b = w.predicate(op->b, op->flags & Op::negate_b);
  w.set_predicate(op->d, F{}(a, b));
  return op + 1;
}
template <class F>
const Op* predicate_unary(Warp& w, const Op* op) {
  w.set_predicate(op->d, F{}(w.predicate(op->a, op->flags & Op::negate_a)));
  return op + 1;
}

// lop3: bit n of the table is the result for a, b, c = the bits of n (PTX ISA, "lop3").
struct Table3 {
  U32 minterm[8];
  explicit Table3(U32 table) {
    for (U32 i = 0; i < 8; ++i) minterm[i] = 0 - ((table >> i) & 1);
  }
  static U32 pick(U32 on, U32 one, U32 zero) { return zero ^ (on & (one ^ zero)); }
  U32 operator()(U32 a, U32 b, U32 c) const {
    const U32 low = pick(b, pick(c, minterm[3], minterm[2]), pick(c, minterm[1], minterm[0]));
    const U32 high = pick(b, pick(c, minterm[7], minterm[6]), pick(c, minterm[5], minterm[4]));
    return pick(a, high, low);
  }
};
const Op* lop3_word(Warp& w, const Op* op) {
  const U32 *a = w.at<U32>(op->a), *b = w.at<U32>(op->b), *c = w.at<U32>(op->c);
  const Table3 table(static_cast<U32>(op->imm));
  write<U32>(w, op->d, [&](int l) { return table(a[l], b[l], c[l]); });
  return op + 1;
}
// lop3.or/.and d|p, ...: p = (d != 0) op q.
template <class F>
const Op* nonzero(Warp& w, const Op* op) {
  const U32* a = w.at<U32>(op->a);
  const U32 q = w.predicate(op->b, op->flags & Op::negate_b);
  w.set_predicate(op->d, F{}(lane_bits<U32>([=](int l) { return a[l] != 0; }), q));
  return op + 1;
}

bool lower_lop3(Lowering& lo, const Row& row) {
  if (lo.operands.size() != 5) return lo.refuse("lop3 takes five operands");
  if (!lo.is_constant(lo.operands[4])) return lo.refuse("lop3's table must be a constant");
  const Ref a = lo.source(lo.operands[1], Type::b32), b = lo.source(lo.operands[2], Type::b32);
  const Ref c = lo.source(lo.operands[3], Type::b32);
  const Ref d = lo.destination(lo.operands[0], Type::b32);
  Op& op = lo.emit(row.handler);
  op.d = d, op.a = a, op.b = b, op.c = c;
  op.imm = lo.constant(lo.operands[4]) & 0xff;
  return true;
}
bool lower_lop3_predicate(Lowering& lo, const Row& row) {
  if (lo.operands.size() != 6) return lo.refuse("lop3 with .and or .or takes six operands");
  if (!lo.is_constant(lo.operands[4])) return lo.refuse("lop3's table must be a constant");
  std::uint8_t flags = 0;
  const Ref p = lo.second_destination(lo.operands[0]);
  const Ref q = lo.predicate(lo.operands[5], flags, Op::negate_b);
  if (p == no_ref) return lo.refuse("lop3 with .and or .or needs a destination d|p");
  const Ref a = lo.source(lo.operands[1], Type::b32), b = lo.source(lo.operands[2], Type::b32);
  const Ref c = lo.source(lo.operands[3], Type::b32);
  const Ref value = lo.scratch(Type::b32);
  const Ref d = lo.destination(lo.operands[0], Type::b32);
  for (const Ref result : {value, d}) {
    Op& op = lo.emit(lop3_word);
    op.d = result, op.a = a, op.b = b, op.c = c;
    op.imm = lo.constant(lo.operands[4]) & 0xff;
    if (result == value) {
      Op& test = lo.emit(row.handler);
      test.d = p, test.a = value, test.b = q;
      test.flags |= flags;
    }
  }
  return true;
}

void bitwise_rows(Rows& rows) {
  using enum Type;
  bit_binaries<and_, With<>, And, b16, b32, b64>(rows);
  bit_binaries<or_, With<>, Or, b16, b32, b64>(rows);
  bit_binaries<xor_, With<>, Xor, b16, b32, b64>(rows);
  bit_unaries<not_, With<>, Not, b16, b32, b64>(rows);
  bit_unaries<cnot, With<>, Cnot, b16, b32, b64>(rows);
  static constexpr Row table[] = {
      {and_, {pred}, {}, {pred, pred, pred}, predicate_binary<And>},
      {or_, {pred}, {}, {pred, pred, pred}, predicate_binary<Or>},
      {xor_, {pred}, {}, {pred, pred, pred}, predicate_binary<Xor>},
      {not_, {pred}, {}, {pred, pred}, predicate_unary<Not>},
      {lop3, {b32}, {}, {}, lop3_word, lower_lop3},
      {lop3, {b32}, {Mod::or_}, {}, nonzero<Or>, lower_lop3_predicate},
      {lop3, {b32}, {Mod::and_}, {}, nonzero<And>, lower_lop3_predicate},
  };
  add_rows(rows, table);
}

// --- selection ---

template <class T>
const Op* select(Warp& w, const Op* op) {
  const T *a = w.at<T>(op->a), *b = w.at<T>(op->b);
  const U32 p = w.predicate(op->c, op->flags & Op::negate_c);
  if constexpr (is_narrow<T>) {
    const Chosen<T> first(p);
    write<T>(w, op->d, [&](int l) { return first.pick(l, a[l], b[l]); });
  } else {
    write<T>(w, op->d, [=](int l) { return p >> l & 1 ? a[l] : b[l]; });
  }
  return op + 1;
}
// slct: a if c >= 0, else b. -0.0 counts as 0, NaN as negative (PTX ISA, "slct").
struct Slct {
  template <class T>
  T operator()(T a, T b, S32 c) const {
    return c >= 0 ? a : b;
  }
  template <class T>
  T operator()(T a, T b, float c) const {
    return c >= 0 ? a : b;
  }
};
template <Type... T>
void selections(Rows& rows) {
  using enum Mod;
  static constexpr Row table[] = {
      Row{selp, {T}, {}, {T, T, T, Type::pred}, select<Bits<T>>}...,
      Row{slct, {T, s32}, {}, {T, T, T, s32}, ternary<Bits<T>, Bits<T>, Bits<T>, S32, Slct>}...,
      // Without .ftz a negative subnormal c is negative. SlctFtz counts it as 0.
      Row{slct,
          {T, Type::f32},
          {},
          {T, T, T, Type::f32},
          ternary<Bits<T>, Bits<T>, Bits<T>, float, Slct>}...};
  add_rows(rows, table);
}
struct SlctFtz {
  template <class T>
  T operator()(T a, T b, float c) const {
    return c > -0x1p-126f ? a : b;
  }
};
template <Type... T>
void flushing_selections(Rows& rows) {
  static constexpr Row table[] = {Row{slct,
                                      {T, Type::f32},
                                      {Mod::ftz},
                                      {T, T, T, Type::f32},
                                      ternary<Bits<T>, Bits<T>, Bits<T>, float, SlctFtz>}...};
  add_rows(rows, table);
}

}  // namespace

void logic_rows(Rows& rows) {
  using enum Type;
  bitwise_rows(rows);
  selections<b16, b32, b64, u16, u32, u64, s16, s32, s64, f32, f64>(rows);
  flushing_selections<b16, b32, b64, u16, u32, u64, s16, s32, s64, f32, f64>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
