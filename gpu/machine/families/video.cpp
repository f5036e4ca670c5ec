// Video instructions on words and their parts, and their SIMD forms (PTX ISA 9.7.17).
#include "gpu/machine/families/integer.hpp"
#include "gpu/machine/lowering/lowering.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
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
// Rounded up, unless the sum is negative.
struct Average {
  static S64 of(S64 a, S64 b) { return (a + b + (a + b >= 0)) >> 1; }
};
template <bool Left, bool Wrap>
struct Shift {
  static S64 of(S64 a, S64 b) {
    const S64 n = Wrap ? b & 31 : b < 32 ? b : 32;
    return Left ? static_cast<S64>(static_cast<U64>(a) << n) : a >> n;
  }
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

// How a form reads and writes: Op::detail. These are rare instructions: one loop for all types.
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
std::uint16_t detail_of(Type d, Type a, Type b, const ModSet& mods) {
  return (a == s32 ? signed_a : 0) | (b == s32 ? signed_b : 0) | (d == s32 ? signed_d : 0) |
         (mods.has(Mod::sat) ? saturates : 0) | (mods.has(Mod::add) ? second_add : 0) |
         (mods.has(Mod::min) ? second_min : 0) | (mods.has(Mod::max) ? second_max : 0) |
         (mods.has(Mod::po) ? plus_one : 0);
}
S64 extended(U32 word, bool is_signed) {
  return is_signed ? S64{static_cast<S32>(word)} : S64{word};
}
// `v` clamped to a range of `width` bits.
S64 clamped(S64 v, bool is_signed, int width) {
  const S64 high = (S64{1} << (width - is_signed)) - 1, low = is_signed ? -high - 1 : 0;
  return v < low ? low : v > high ? high : v;
}

// --- scalar: d = second(op(a, b), c) ---

// An H200 takes an unsigned d of a signed operand for greater than any c when its top bit is set,
// unless it is a difference's magnitude.
S64 comparable(S64 v, int how) {
  const bool mixed = how & (signed_a | signed_b) && !(how & (signed_d | saturates));
  return mixed && v >> 31 & 1 ? v | S64{1} << 32 : v;
}
S64 second(S64 v, S64 c, int how) {
  if (how & second_add) return v + c;
  if (how & second_min) return c < v ? c : v;
  return how & second_max && v < c ? c : v;
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
  // As a scalar instruction's destination: an H200 takes the high half of the value into .h1.
  U32 merge_scalar(U32 value, U32 into) const {
    return merge(width == 16 ? value >> shift : value, into);
  }
  // Saturated for it: what is negative, too, becomes the greatest value (an H200's answers).
  S64 saturated(S64 v, bool is_signed) const {
    const S64 most = (S64{1} << (width - is_signed)) - 1;
    return v < 0 || v > most ? most : v;
  }
};
const Op* extract_part(Warp& w, const Op* op) {
  const U32* a = w.at<U32>(op->a);
  const Part part = Part::of(op->imm);
  const bool is_signed = op->detail;
  write<U32>(w, op->d, [=](int l) { return part.extract(a[l], is_signed); });
  return op + 1;
}
template <class F>
const Op* scalar(Warp& w, const Op* op) {
  const U32 *a = w.at<U32>(op->a), *b = w.at<U32>(op->b), *c = w.at<U32>(op->c);
  const int how = op->detail;
  const Part part = how & merges ? Part::of(op->imm) : Part{0, 32};
  write<U32>(w, op->d, [=](int l) {
    const S64 v = F::of(extended(a[l], how & signed_a), extended(b[l], how & signed_b));
    const S64 top =
        how & merges ? part.saturated(v, how & signed_d) : clamped(v, how & signed_d, 32);
    const S64 kept = how & saturates ? top : v;
    const S64 first = extended(static_cast<U32>(kept), how & signed_d);
    const S64 compared = requires { F::is_magnitude; }
    ? first : comparable(first, how);
    const U32 r = static_cast<U32>(second(compared, extended(c[l], how & signed_d), how));
    return how & merges ? part.merge_scalar(r, c[l]) : r;
  });
  return op + 1;
}

// --- SIMD: parts of 16 or 8 bits; Op::imm: which of them the result takes, a bit each. The others
// come from c. .add sums the chosen ones into c instead ---

template <class F, int Width>
const Op* simd(Warp& w, const Op* op) {
  const U32 *a = w.at<U32>(op->a), *b = w.at<U32>(op->b), *c = w.at<U32>(op->c);
  const int how = op->detail, chosen = static_cast<int>(op->imm);
  write<U32>(w, op->d, [=](int l) {
    U32 merged = c[l], sum = c[l];
    for (int i = 0; i < 32 / Width; ++i) {
      if (!(chosen >> i & 1)) continue;
      const Part part{Width * i, Width};
      const bool sa = how & signed_a, sb = how & signed_b;
      const S64 v =
          F::of(extended(part.extract(a[l], sa), sa), extended(part.extract(b[l], sb), sb));
      const S64 kept = how & saturates ? clamped(v, how & signed_d, Width) : v;
      sum += static_cast<U32>(kept);
      merged = part.merge(static_cast<U32>(kept), merged);
    }
    return how & second_add ? sum : merged;
  });
  return op + 1;
}
// Bytes chosen from {b, a} by the nibbles of Op::imm.
const Op* permute(Warp& w, const Op* op) {
  const U32 *a = w.at<U32>(op->a), *b = w.at<U32>(op->b);
  const U32 selector = static_cast<U32>(op->imm);
  write<U32>(w, op->d, [=](int l) {
    const U64 both = U64{b[l]} << 32 | a[l];
    U32 r = 0;
    for (int i = 0; i < 4; ++i)
      r |= (static_cast<U32>(both >> (8 * (selector >> (4 * i) & 7))) & 0xff) << (8 * i);
    return r;
  });
  return op + 1;
}

// --- lowering and rows ---

// Types as written: D, A, B, or A, B of a test, whose result is unsigned.
struct Types {
  Type d, a, b;
};
Types types_of(const Row& row) {
  if (row.types[2] == Type::none) return {u32, row.types[0], row.types[1]};
  return {row.types[0], row.types[1], row.types[2]};
}
ptx::Selector selector_of(const ptx::Operand& o) {
  return o.kind == ptx::Operand::Kind::reg ? ptx::Selector::of(o.value) : ptx::Selector{};
}
bool wrong_operands(Lowering& lo) {
  return lo.refuse("this video instruction has a wrong number of operands or a wrong selector");
}
Op* emit(Lowering& lo, const Row& row, const Types& t, Ref a, Ref b, Ref c) {
  const Ref d = lo.destination(lo.operands[0], t.d);
  Op& op = lo.emit(row.handler);
  op.d = d, op.a = a, op.b = b, op.c = c;
  op.detail = detail_of(t.d, t.a, t.b, row.mods);
  return &op;
}
// `a` or `a.b2`, as a word.
Ref scalar_source(Lowering& lo, const ptx::Operand& o, Type type) {
  const Ref whole = lo.source(o, type);
  const auto selector = selector_of(o);
  if (!selector.unit) return whole;
  const Ref part = lo.scratch(type);
  Op& op = lo.emit(extract_part);
  op.d = part, op.a = whole, op.imm = Part::of(selector).value(), op.detail = type == s32;
  return part;
}
bool is_part_of_word(const ptx::Selector& s) {
  return !s.unit || (s.count == 1 && s.parts[0] <= (s.unit == 'b' ? 3 : 1));
}
Op* lower(Lowering& lo, const Row& row, bool takes_c) {
  const Types t = types_of(row);
  if (lo.operands.size() != (takes_c ? 4u : 3u)) return nullptr;
  for (int i = 0; i < 3; ++i)
    if (!is_part_of_word(selector_of(lo.operands[i]))) return nullptr;
  const Ref a = scalar_source(lo, lo.operands[1], t.a), b = scalar_source(lo, lo.operands[2], t.b);
  return emit(lo, row, t, a, b, takes_c ? lo.source(lo.operands[3], u32) : a);
}
bool lower_scalar(Lowering& lo, const Row& row) {
  const auto into = selector_of(lo.operands[0]);
  const bool second = row.mods.has(Mod::add) || row.mods.has(Mod::min) || row.mods.has(Mod::max);
  if (second && into.unit) return wrong_operands(lo);
  Op* op = lower(lo, row, second || into.unit);
  if (!op) return wrong_operands(lo);
  if (into.unit) op->detail |= merges, op->imm = Part::of(into).value();
  return true;
}

// The nibbles for permute(): of `a.b3210`, most significant first, or the default.
U32 permutation(const ptx::Selector& s, U32 otherwise) {
  if (!s.unit) return otherwise;
  U32 r = 0;
  for (int i = 0; i < s.count; ++i) {
    const U32 n = s.parts[i];
    r = s.unit == 'b' ? r << 4 | (n & 7) : r << 8 | ((n & 3) * 2 + 1) << 4 | (n & 3) * 2;
  }
  return r;
}
Ref permuted(Lowering& lo, Ref a, Ref b, U32 selector) {
  if (selector == 0x3210) return a;
  if (selector == 0x7654) return b;
  const Ref r = lo.scratch(u32);
  Op& op = lo.emit(permute);
  op.d = r, op.a = a, op.b = b, op.imm = selector;
  return r;
}
template <int Width>
bool lower_simd(Lowering& lo, const Row& row) {
  const Types t = types_of(row);
  if (lo.operands.size() != 4) return wrong_operands(lo);
  constexpr int parts = 32 / Width;
  constexpr char unit = Width == 8 ? 'b' : 'h';
  const auto mask = selector_of(lo.operands[0]);
  int chosen = mask.unit ? 0 : (1 << parts) - 1;
  for (int i = 0; i < mask.count; ++i) chosen |= 1 << mask.parts[i];
  if ((mask.unit && mask.unit != unit) || chosen >> parts) return wrong_operands(lo);
  for (int i = 1; i <= 2; ++i) {
    const auto s = selector_of(lo.operands[i]);
    if (s.unit && (s.unit != unit || s.count != parts)) return wrong_operands(lo);
  }
  const Ref a = lo.source(lo.operands[1], t.a), b = lo.source(lo.operands[2], t.b);
  const Ref x = permuted(lo, a, b, permutation(selector_of(lo.operands[1]), 0x3210));
  const Ref y = permuted(lo, a, b, permutation(selector_of(lo.operands[2]), 0x7654));
  emit(lo, row, t, x, y, lo.source(lo.operands[3], u32))->imm = chosen;
  return true;
}

constexpr Type words[] = {u32, s32};
template <class F>
void for_seconds(F f) {
  for (const ModSet second : {ModSet{}, ModSet{Mod::add}, ModSet{Mod::min}, ModSet{Mod::max}})
    f(second);
}
template <class F>
void for_types(F f) {
  for (const Type d : words)
    for (const Type a : words)
      for (const Type b : words) f(d, a, b);
}
void scalar_rows(Rows& rows, Opcode opcode, Handler handler) {
  for_types([&](Type d, Type a, Type b) {
    for_seconds([&](const ModSet& m) {
      machine::add(rows, Row{opcode, {d, a, b}, m, {}, handler, lower_scalar});
      machine::add(rows, Row{opcode, {d, a, b}, m | ModSet{Mod::sat}, {}, handler, lower_scalar});
    });
  });
}
template <bool Left, bool Wrap>
void shift_rows(Rows& rows, Opcode opcode, Mod mode) {
  const Handler handler = scalar<Shift<Left, Wrap>>;
  for_types([&](Type d, Type a, Type b) {
    if (b != u32) return;
    for_seconds([&](const ModSet& second) {
      const ModSet m = second | ModSet{mode};
      machine::add(rows, Row{opcode, {d, a, b}, m, {}, handler, lower_scalar});
      machine::add(rows, Row{opcode, {d, a, b}, m | ModSet{Mod::sat}, {}, handler, lower_scalar});
    });
  });
}
template <class F, int Width>
void simd_rows(Rows& rows, Opcode opcode) {
  for_types([&](Type d, Type a, Type b) {
    for (const ModSet m : {ModSet{}, ModSet{Mod::sat}, ModSet{Mod::add}})
      machine::add(rows, Row{opcode, {d, a, b}, m, {}, simd<F, Width>, lower_simd<Width>});
  });
}
template <Mod Q>
void test_rows(Rows& rows) {
  const ModSet q{Q}, sum{Q, Mod::add};
  for (const Type a : words)
    for (const Type b : words) {
      for_seconds([&](const ModSet& second) {
        machine::add(rows, Row{vset, {a, b}, q | second, {}, scalar<Test<Q>>, lower_scalar});
      });
      for (const ModSet& m : {q, sum}) {
        machine::add(rows, Row{vset2, {a, b}, m, {}, simd<Test<Q>, 16>, lower_simd<16>});
        machine::add(rows, Row{vset4, {a, b}, m, {}, simd<Test<Q>, 8>, lower_simd<8>});
      }
    }
}

// --- vmad: (a * b + c + po) >> scale; a minus before an operand complements and adds 1 ---

const Op* vmad_lanes(Warp& w, const Op* op) {
  const U32 *a = w.at<U32>(op->a), *b = w.at<U32>(op->b), *c = w.at<U32>(op->c);
  const int how = op->detail, scale = static_cast<int>(op->imm);
  const U64 one = how & (minus_product | minus_c | plus_one) ? 1 : 0;
  const bool signed_c = how & (signed_a | signed_b | minus_product);
  const bool is_signed = signed_c || how & minus_c;
  write<U32>(w, op->d, [=](int l) {
    const U64 product = static_cast<U64>(extended(a[l], how & signed_a)) *
                        static_cast<U64>(extended(b[l], how & signed_b));
    const U64 addend = static_cast<U64>(extended(c[l], signed_c));
    const U64 sum =
        (how & minus_product ? ~product : product) + (how & minus_c ? ~addend : addend) + one;
    const S64 v = is_signed ? static_cast<S64>(sum) >> scale : static_cast<S64>(sum >> scale);
    const S64 top = v < 0 && !is_signed ? S64{0xffffffff} : clamped(v, is_signed, 32);
    return static_cast<U32>(how & saturates ? top : v);
  });
  return op + 1;
}
bool lower_vmad(Lowering& lo, const Row& row) {
  Op* op = lower(lo, row, true);
  if (!op || selector_of(lo.operands[0]).unit) return wrong_operands(lo);
  if (lo.operands[1].negated != lo.operands[2].negated) op->detail |= minus_product;
  if (lo.operands[3].negated) op->detail |= minus_c;
  op->imm = row.mods.has(Mod::shr7) ? 7 : row.mods.has(Mod::shr15) ? 15 : 0;
  return true;
}
void vmad_rows(Rows& rows) {
  for_types([&](Type d, Type a, Type b) {
    for (const ModSet scale : {ModSet{}, ModSet{Mod::shr7}, ModSet{Mod::shr15}})
      for (const ModSet sat : {ModSet{}, ModSet{Mod::sat}})
        for (const ModSet po : {ModSet{}, ModSet{Mod::po}})
          machine::add(rows, Row{vmad, {d, a, b}, scale | sat | po, {}, vmad_lanes, lower_vmad});
  });
}

}  // namespace

void video_rows(Rows& rows) {
  scalar_rows(rows, vadd, scalar<Plus>);
  scalar_rows(rows, vsub, scalar<Minus>);
  scalar_rows(rows, vabsdiff, scalar<Difference>);
  scalar_rows(rows, vmin, scalar<Least>);
  scalar_rows(rows, vmax, scalar<Most>);
  shift_rows<true, false>(rows, vshl, Mod::clamp);
  shift_rows<true, true>(rows, vshl, Mod::wrap);
  shift_rows<false, false>(rows, vshr, Mod::clamp);
  shift_rows<false, true>(rows, vshr, Mod::wrap);
  simd_rows<Plus, 16>(rows, vadd2);
  simd_rows<Plus, 8>(rows, vadd4);
  simd_rows<Minus, 16>(rows, vsub2);
  simd_rows<Minus, 8>(rows, vsub4);
  simd_rows<Average, 16>(rows, vavrg2);
  simd_rows<Average, 8>(rows, vavrg4);
  simd_rows<Difference, 16>(rows, vabsdiff2);
  simd_rows<Difference, 8>(rows, vabsdiff4);
  simd_rows<Least, 16>(rows, vmin2);
  simd_rows<Least, 8>(rows, vmin4);
  simd_rows<Most, 16>(rows, vmax2);
  simd_rows<Most, 8>(rows, vmax4);
  test_rows<Mod::eq>(rows);
  test_rows<Mod::ne>(rows);
  test_rows<Mod::lt>(rows);
  test_rows<Mod::le>(rows);
  test_rows<Mod::gt>(rows);
  test_rows<Mod::ge>(rows);
  vmad_rows(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
