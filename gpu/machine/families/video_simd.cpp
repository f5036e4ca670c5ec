// SIMD video instructions, on the halves or bytes of words (PTX ISA 9.7.17).
#include "gpu/machine/families/video.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using namespace video;
using enum Opcode;

// Rounded up, unless the sum is negative.
struct Average {
  static S64 of(S64 a, S64 b) { return (a + b + (a + b >= 0)) >> 1; }
};
// --- SIMD: parts of 16 or 8 bits. Op::imm is the mask of parts that the result takes; the others
// come from c. With .add, the result is c plus the sum of the chosen parts ---

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

// The nibbles for permute() of a selector such as `a.b3210`, most significant first, or the
// default.
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

template <class F, int Width>
void simd_rows(Rows& rows, Opcode opcode) {
  for_types([&](Type d, Type a, Type b) {
    for (const ModSet m : {ModSet{}, ModSet{Mod::sat}, ModSet{Mod::add}})
      machine::add(rows, Row{opcode, {d, a, b}, m, {}, simd<F, Width>, lower_simd<Width>});
  });
}
template <Mod Q>
void test_rows(Rows& rows) {
  for (const Type a : types)
    for (const Type b : types)
      for (const ModSet& m : {ModSet{Q}, ModSet{Q, Mod::add}}) {
        machine::add(rows, Row{vset2, {a, b}, m, {}, simd<Test<Q>, 16>, lower_simd<16>});
        machine::add(rows, Row{vset4, {a, b}, m, {}, simd<Test<Q>, 8>, lower_simd<8>});
      }
}

}  // namespace

void video_simd_rows(Rows& rows) {
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
}

}  // namespace inflight::machine::INFLIGHT_ISA
