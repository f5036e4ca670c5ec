// setp and set: comparisons that make predicates or masks (PTX ISA 9.7.6, 9.7.7).
#include <type_traits>

#include "gpu/machine/families/half.hpp"
#include "gpu/machine/families/mask.hpp"
#include "gpu/machine/lowering/lowering.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

// --- comparisons: a `u` form is also true if an operand is NaN ---

template <Mod Question>
struct Compare {
  template <class T>
  bool operator()(T a, T b) const {
    switch (Question) {
      case Mod::eq:
        return a == b;
      case Mod::ne:
        return a < b || b < a;
      case Mod::lt:
        return a < b;
      case Mod::le:
        return a <= b;
      case Mod::gt:
        return a > b;
      case Mod::ge:
        return a >= b;
      case Mod::equ:
        return !(a < b || b < a);
      case Mod::neu:
        return a != b;
      case Mod::ltu:
        return !(a >= b);
      case Mod::leu:
        return !(a > b);
      case Mod::gtu:
        return !(a <= b);
      case Mod::geu:
        return !(a < b);
      case Mod::num:
        return a == a && b == b;
      default:
        return a != a || b != b;
    }
  }
};

// Conversions from the stored lane to the compared value.
template <class T>
struct AsIs {
  using Stored = T;
  using Compared = T;
  static T value(T x) { return x; }
};
struct Flushed {
  using Stored = float;
  using Compared = float;
  static float value(float x) { return flush(x); }
};
template <class Format, bool Ftz>
struct Half {
  using Stored = U16;
  using Compared = float;
  static float value(U32 h) { return Format::value(Ftz ? flush_half<Format>(h) : h); }
};
template <class Format, bool Ftz, int Shift>
struct PartOfPair {
  using Stored = U32;
  using Compared = float;
  static float value(U32 pair) { return Half<Format, Ftz>::value(pair >> Shift & 0xffff); }
};

template <class From, Mod Question>
[[gnu::always_inline]] inline U32 compare_lanes(Warp& w, const Op* op) {
  const auto* a = w.at<typename From::Stored>(op->a);
  const auto* b = w.at<typename From::Stored>(op->b);
  return lane_bits<typename From::Compared>(
      [=](int l) { return Compare<Question>{}(From::value(a[l]), From::value(b[l])); });
}

// The comparison with the opposite result, also for NaN, if `question` is a `u` form or .nan; else
// `question`.
constexpr Mod opposite(Mod question) {
  using enum Mod;
  constexpr Mod pairs[][2] = {{equ, ne}, {neu, eq}, {ltu, ge},      {leu, gt},
                              {gtu, le}, {geu, lt}, {Mod::nan, num}};
  for (const auto& [negative, positive] : pairs)
    if (question == negative) return positive;
  return question;
}

// compare_lanes out of line, for rarely run forms.
template <class From, Mod Question>
[[gnu::noinline]] U32 compared_positive(Warp& w, const Op* op) {
  return compare_lanes<From, Question>(w, op);
}
template <class From, Mod Question>
U32 compared(Warp& w, const Op* op) {
  constexpr Mod positive = opposite(Question);
  const U32 bits = compared_positive<From, positive>(w, op);
  return positive == Question ? bits : ~bits;
}

// Op::detail of setp and set: how the comparison combines with the predicate c, and whether there
// is a second destination. Op::imm is that destination of setp.
enum Detail : std::uint16_t { plain = 0, with_and = 1, with_or = 2, with_xor = 3, has_second = 4 };
constexpr std::uint16_t boolean_field = 3;

inline U32 combine(Warp& w, const Op* op, U32 bits) {
  const int how = op->detail & boolean_field;
  if (how == plain) return bits;
  const U32 c = w.predicate(op->c, op->flags & Op::negate_c);
  return how == with_and ? bits & c : how == with_or ? bits | c : bits ^ c;
}
// p = bits op c, q = !bits op c.
inline const Op* finish_setp(Warp& w, const Op* op, U32 bits) {
  if (op->detail != plain) [[unlikely]] {
    const U32 p = combine(w, op, bits), q = combine(w, op, ~bits);
    if (op->detail & has_second) w.set_predicate(static_cast<Ref>(op->imm), q);
    bits = p;
  }
  w.set_predicate(op->d, bits);
  return op + 1;
}
template <class From, Mod Question>
const Op* setp_lanes(Warp& w, const Op* op) {
  if constexpr (std::is_same_v<typename From::Stored, typename From::Compared>)
    return finish_setp(w, op, compare_lanes<From, Question>(w, op));
  else
    return finish_setp(w, op, compared<From, Question>(w, op));
}
// Pairs: p compares the low halves, q the high ones.
template <class Format, bool Ftz, Mod Question>
const Op* setp_pairs(Warp& w, const Op* op) {
  const U32 low = compared<PartOfPair<Format, Ftz, 0>, Question>(w, op);
  const U32 high = compared<PartOfPair<Format, Ftz, 16>, Question>(w, op);
  const U32 p = combine(w, op, low), q = combine(w, op, high);
  w.set_predicate(op->d, p);
  if (op->detail & has_second) w.set_predicate(static_cast<Ref>(op->imm), q);
  return op + 1;
}

// set: the value Op::imm if the comparison holds, else 0.
template <class T>
[[gnu::noinline]] const Op* finish_set(Warp& w, const Op* op, U32 bits) {
  const U32 set = combine(w, op, bits);
  const T value = static_cast<T>(op->imm);
  write<T>(w, op->d, [=](int l) { return set >> l & 1 ? value : T{0}; });
  return op + 1;
}
template <class T, class From, Mod Question>
const Op* set_lanes(Warp& w, const Op* op) {
  return finish_set<T>(w, op, compared<From, Question>(w, op));
}
// Op::imm is the low half's value. The high half's value is the same, shifted.
[[gnu::noinline]] const Op* finish_set_pairs(Warp& w, const Op* op, U32 low, U32 high) {
  const U32 p = combine(w, op, low), q = combine(w, op, high);
  const U32 value = static_cast<U32>(op->imm);
  write<U32>(w, op->d,
             [=](int l) { return (p >> l & 1 ? value : 0) | (q >> l & 1 ? value << 16 : 0); });
  return op + 1;
}
template <class Format, bool Ftz, Mod Question>
const Op* set_pairs(Warp& w, const Op* op) {
  const U32 low = compared<PartOfPair<Format, Ftz, 0>, Question>(w, op);
  const U32 high = compared<PartOfPair<Format, Ftz, 16>, Question>(w, op);
  return finish_set_pairs(w, op, low, high);
}

// --- lowering: the source type is the last one written; .and, .or and .xor take a predicate c ---

bool takes_predicate(const Row& row) {
  return row.mods.has(Mod::and_) || row.mods.has(Mod::or_) || row.mods.has(Mod::xor_);
}
std::uint16_t boolean_of(const Row& row) {
  if (row.mods.has(Mod::and_)) return with_and;
  if (row.mods.has(Mod::or_)) return with_or;
  return row.mods.has(Mod::xor_) ? with_xor : plain;
}
struct Sources {
  Ref a, b, c = no_ref;
  std::uint8_t flags = 0;
};
Sources sources(Lowering& lo, const Row& row, Type type) {
  Sources s;
  s.a = lo.source(lo.operands[1], type);
  s.b = lo.source(lo.operands[2], type);
  if (takes_predicate(row)) s.c = lo.predicate(lo.operands[3], s.flags, Op::negate_c);
  return s;
}
Op& emit(Lowering& lo, const Row& row, const Sources& s, Ref d) {
  Op& op = lo.emit(row.handler);
  op.d = d, op.a = s.a, op.b = s.b, op.c = s.c;
  op.flags |= s.flags;
  op.detail = boolean_of(row);
  return op;
}
bool counts_match(Lowering& lo, const Row& row) {
  return lo.operands.size() == (takes_predicate(row) ? 4u : 3u);
}
bool lower_setp(Lowering& lo, const Row& row) {
  if (!counts_match(lo, row)) return lo.refuse("setp has the wrong number of operands");
  const Sources s = sources(lo, row, row.types[0]);
  const Ref p = lo.predicate_destination(lo.operands[0]);
  const Ref q = lo.second_destination(lo.operands[0]);
  Op& op = emit(lo, row, s, p);
  if (q != no_ref) op.detail |= has_second, op.imm = q;
  return true;
}
std::int64_t true_value(Type to, Type from) {
  if (to == f32) return 0x3f800000;
  if (to == f16 || to == f16x2) return F16::one;
  if (to == bf16 || to == bf16x2) return Bf16::one;
  return from == f16x2 || from == bf16x2 ? 0xffff : -1;
}
bool lower_set(Lowering& lo, const Row& row) {
  if (!counts_match(lo, row)) return lo.refuse("set has the wrong number of operands");
  const Sources s = sources(lo, row, row.types[1]);
  const Ref d = lo.destination(lo.operands[0], row.types[0]);
  emit(lo, row, s, d).imm = true_value(row.types[0], row.types[1]);
  return true;
}

// --- rows ---

// The three ways to combine with a predicate, and none.
constexpr ModSet booleans[] = {{}, {Mod::and_}, {Mod::or_}, {Mod::xor_}};

// A source type of rows. `mods` may have .ftz.
struct Source {
  Type type;
  ModSet mods;
};
struct Handlers {
  Handler setp, word, half;  // word, half: of set, by the width of its result
};
void add_rows(Rows& rows, Source from, Mod spelling, Handlers run) {
  const auto set_row = [&](Type to, ModSet mods, Handler handler) {
    machine::add(rows, Row{set, {to, from.type}, mods, {}, handler, lower_set});
  };
  const bool is_half = from.type == f16 || from.type == bf16;
  for (const ModSet boolean : booleans) {
    const ModSet mods = from.mods | boolean | ModSet{spelling};
    machine::add(rows, Row{setp, {from.type}, mods, {}, run.setp, lower_setp});
    for (const Type to : {u32, s32}) set_row(to, mods, run.word);
    if (!is_half) set_row(f32, mods, run.word);
    for (const Type to : {f16, bf16}) set_row(to, mods, run.half);
    if (is_half)
      for (const Type to : {u16, s16}) set_row(to, mods, run.half);
  }
}
void add_pair_rows(Rows& rows, Source from, Mod spelling, Handlers run) {
  for (const ModSet boolean : booleans) {
    const ModSet mods = from.mods | boolean | ModSet{spelling};
    machine::add(rows, Row{setp, {from.type}, mods, {}, run.setp, lower_setp});
    for (const Type to : {from.type, u32, s32})
      machine::add(rows, Row{set, {to, from.type}, mods, {}, run.word, lower_set});
  }
}

template <class From, Mod Question>
constexpr Handlers handlers_of{setp_lanes<From, Question>, set_lanes<U32, From, Question>,
                               set_lanes<U16, From, Question>};
template <class From, Mod... Questions>
void same_spelling(Rows& rows, Type type, ModSet mods = {}) {
  (add_rows(rows, {type, mods}, Questions, handlers_of<From, Questions>), ...);
}
template <class From>
void real_rows(Rows& rows, Type type, ModSet mods = {}) {
  using enum Mod;
  same_spelling<From, eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, Mod::nan>(
      rows, type, mods);
}
template <Type U, Type S>
void integer_rows(Rows& rows) {
  using enum Mod;
  using Unsigned = AsIs<Lane<U>>;
  same_spelling<Unsigned, eq, ne, lt, le, gt, ge>(rows, U);
  add_rows(rows, {U, {}}, lo, handlers_of<Unsigned, lt>);
  add_rows(rows, {U, {}}, ls, handlers_of<Unsigned, le>);
  add_rows(rows, {U, {}}, hi, handlers_of<Unsigned, gt>);
  add_rows(rows, {U, {}}, hs, handlers_of<Unsigned, ge>);
  same_spelling<AsIs<Lane<S>>, eq, ne, lt, le, gt, ge>(rows, S);
}
template <Type B>
void bit_rows(Rows& rows) {
  same_spelling<AsIs<Lane<B>>, Mod::eq, Mod::ne>(rows, B);
}

template <class Format, bool Ftz, Mod... Questions>
void pair_rows(Rows& rows) {
  const Source from{Format::pair, Ftz ? ModSet{Mod::ftz} : ModSet{}};
  (add_pair_rows(rows, from, Questions,
                 {setp_pairs<Format, Ftz, Questions>, set_pairs<Format, Ftz, Questions>, nullptr}),
   ...);
}
template <class Format, bool Ftz>
void all_pair_rows(Rows& rows) {
  using enum Mod;
  pair_rows<Format, Ftz, eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, Mod::nan>(rows);
}

}  // namespace

void compare_rows(Rows& rows) {
  bit_rows<b16>(rows);
  bit_rows<b32>(rows);
  bit_rows<b64>(rows);
  integer_rows<u16, s16>(rows);
  integer_rows<u32, s32>(rows);
  integer_rows<u64, s64>(rows);
  real_rows<AsIs<float>>(rows, f32);
  real_rows<Flushed>(rows, f32, {Mod::ftz});
  real_rows<AsIs<double>>(rows, f64);
  real_rows<Half<F16, false>>(rows, f16);
  real_rows<Half<F16, true>>(rows, f16, {Mod::ftz});
  real_rows<Half<Bf16, false>>(rows, bf16);
  all_pair_rows<F16, false>(rows);
  all_pair_rows<F16, true>(rows);
  all_pair_rows<Bf16, false>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
