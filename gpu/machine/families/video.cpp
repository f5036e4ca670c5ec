// Scalar video instructions, on words and their parts (PTX ISA 9.7.17).
#include "gpu/machine/families/video.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using namespace video;
using enum Opcode;

template <bool Left, bool Wrap>
struct Shift {
  static S64 of(S64 a, S64 b) {
    const S64 n = Wrap ? b & 31 : b < 32 ? b : 32;
    return Left ? static_cast<S64>(static_cast<U64>(a) << n) : a >> n;
  }
};

// --- scalar: d = second(op(a, b), c) ---

// On an H200, an unsigned d of a signed operand compares greater than any c if its top bit is set,
// unless it is the magnitude of a difference.
S64 comparable(S64 v, int how) {
  const bool mixed = how & (signed_a | signed_b) && !(how & (signed_d | saturates));
  return mixed && v >> 31 & 1 ? v | S64{1} << 32 : v;
}
S64 second(S64 v, S64 c, int how) {
  if (how & second_add) return v + c;
  if (how & second_min) return c < v ? c : v;
  return how & second_max && v < c ? c : v;
}
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

template <class F>
void for_seconds(F f) {
  for (const ModSet second : {ModSet{}, ModSet{Mod::add}, ModSet{Mod::min}, ModSet{Mod::max}})
    f(second);
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
template <Mod Q>
void test_rows(Rows& rows) {
  for (const Type a : types)
    for (const Type b : types)
      for_seconds([&](const ModSet& second) {
        machine::add(rows,
                     Row{vset, {a, b}, ModSet{Q} | second, {}, scalar<Test<Q>>, lower_scalar});
      });
}

// --- vmad: (a * b + c + po) >> scale. A minus before an operand complements it and adds 1 ---

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
  test_rows<Mod::eq>(rows);
  test_rows<Mod::ne>(rows);
  test_rows<Mod::lt>(rows);
  test_rows<Mod::le>(rows);
  test_rows<Mod::gt>(rows);
  test_rows<Mod::ge>(rows);
  vmad_rows(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
