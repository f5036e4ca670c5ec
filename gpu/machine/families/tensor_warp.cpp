// mma, mma.sp and wmma.mma: a warp multiplies matrices in its registers (PTX ISA, "Warp Level
// Matrix Multiply-Accumulate Instructions"). gpu/tensor does the arithmetic.
#include <fmt/format.h>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/families/tensor_fragment.hpp"
#include "gpu/machine/families/tensor_quads.hpp"
#include "gpu/machine/families/whole_warp.hpp"
#include "gpu/machine/run/block.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using Of = TensorUse::Of;
using tensor::Element;

// The largest sizes of any form: A of 16 x 16 doubles, and 64 values of a sparse row.
constexpr int most_words = 512, most_values = 16 * 64;

// An e2m1 in a byte of mma is in bits 2 to 5. gpu/tensor has it in the lowest ones.
void lower_e2m1(Element e, bool packed, std::uint32_t* words, std::size_t bytes) {
  if (e != Element::e2m1 || packed) return;
  for (std::size_t i = 0; i < bytes / sizeof *words; ++i) words[i] = words[i] >> 2 & 0x0f0f0f0f;
}

// --- Op::extra: registers of d, a, b and c, then the metadata; Op::detail: its selector ---

const Op* run_product(Warp& w, const Op* op) {
  const auto& use = use_of<TensorUse>(op);
  const Fragment a = fragment_of(use, Of::a), b = fragment_of(use, Of::b),
                 c = accumulator_of(use, use.product.c), d = accumulator_of(use, use.product.d);
  const Ref* const to = w.frame->code->extra.data() + op->extra;
  const Ref* const from_a = to + d.registers();
  const Ref* const from_b = from_a + a.registers() * a.copies;
  const Ref* const from_c = from_b + b.registers() * b.copies;
  alignas(64) std::uint32_t a_words[most_words], b_words[most_words], c_words[most_words],
      d_words[most_words];
  std::uint8_t columns[most_values];
  gather(w, from_a, a, a_words);
  gather(w, from_b, b, b_words);
  lower_e2m1(use.product.a, use.packed, a_words, a.bytes());
  lower_e2m1(use.product.b, use.packed, b_words, b.bytes());
  gather(w, from_c, c, c_words);
  if (use.product.sparse) {
    const Ref metadata = from_c[c.registers()];
    selected_columns(use.product, w.at<std::uint32_t>(metadata), op->detail, columns);
  }
  tensor::multiply(tensor::numerics_of(w.block->grid->limits->architecture), use.product,
                   {a_words, b_words, c_words, d_words, columns});
  spread(w, to, d, d_words);
  return op + 1;
}

const Op* run_usual_product(Warp& w, const Op* op) {
  const auto& use = use_of<TensorUse>(op);
  alignas(64) std::uint32_t a[16 * 8], b[8 * 8], c[16 * 8], d[16 * 8];
  const Ref* const registers = w.frame->code->extra.data() + op->extra;
  gather_usual(w, use, registers, a, b, c);
  lower_e2m1(use.product.a, use.packed, a, sizeof a);
  lower_e2m1(use.product.b, use.packed, b, sizeof b);
  tensor::multiply(tensor::numerics_of(w.block->grid->limits->architecture), use.product,
                   {a, b, c, d, nullptr});
  spread_usual(w, use, registers, d);
  return op + 1;
}

// --- scales: after c's registers, the word and the byte and thread selectors of A, then of B ---

// The scales of a line, from the lane that holds them.
void take_scales(const Warp& w, const Ref* selected, int lane, int blocks, std::uint8_t* out) {
  const std::uint32_t word = w.at<std::uint32_t>(selected[0])[lane];
  const unsigned first = w.at<std::uint16_t>(selected[1])[lane] & 3u;
  for (int i = 0; i < blocks; ++i)
    out[i] = static_cast<std::uint8_t>(word >> 8 * ((first + static_cast<unsigned>(i)) & 3));
}
int thread_selected(const Warp& w, const Ref* selected, int lane) {
  return w.at<std::uint16_t>(selected[2])[lane];
}

// Rows g and g+8 of A have their scales in lanes 4g + 2t and 4g + 2t + 1, column g of B in 4g + t.
const Op* run_scaled_product(Warp& w, const Op* op) {
  const auto& use = use_of<TensorUse>(op);
  constexpr int side = 8, lanes_a_line = 4, most_scales = 16 * 4;
  alignas(64) std::uint32_t a[16 * 8], b[8 * 8], c[16 * 8], d[16 * 8];
  const Ref* const registers = w.frame->code->extra.data() + op->extra;
  gather_usual(w, use, registers, a, b, c);
  lower_e2m1(use.product.a, use.packed, a, sizeof a);
  lower_e2m1(use.product.b, use.packed, b, sizeof b);
  constexpr int before = 4 + 4 + 2 + 4, selected = 3;
  const Ref *const of_a = registers + before, *const of_b = of_a + selected;
  std::uint8_t scale_a[most_scales] = {}, scale_b[most_scales] = {};
  const int blocks = use.scales.blocks;
  for (int g = 0; g < side; ++g) {
    const int first = lanes_a_line * g;
    const int of_rows = first + 2 * (thread_selected(w, of_a, first) & 1);
    take_scales(w, of_a, of_rows, blocks, scale_a + g * blocks);
    take_scales(w, of_a, of_rows + 1, blocks, scale_a + (g + side) * blocks);
    take_scales(w, of_b, first + (thread_selected(w, of_b, first) & 3), blocks,
                scale_b + g * blocks);
  }
  tensor::multiply_scaled(use.product, use.scales, {a, b, scale_a, scale_b, c, d, use.packed});
  spread_usual(w, use, registers, d);
  return op + 1;
}

const Op* run_quads(Warp& w, const Op* op) {
  multiply_quads(w, use_of<TensorUse>(op), w.frame->code->extra.data() + op->extra);
  return op + 1;
}

// --- decoding ---

const ModSet understood{Mod::sync,         Mod::aligned,
                        Mod::row_col,      Mod::row_row,
                        Mod::col_row,      Mod::col_col,
                        Mod::satfinite,    Mod::xor_,
                        Mod::and_,         Mod::popc,
                        Mod::rn,           Mod::rz,
                        Mod::rm,           Mod::rp,
                        Mod::m8n8k4,       Mod::m8n8k16,
                        Mod::m8n8k32,      Mod::m8n8k128,
                        Mod::m16n8k4,      Mod::m16n8k8,
                        Mod::m16n8k16,     Mod::m16n8k32,
                        Mod::m16n8k64,     Mod::m16n8k128,
                        Mod::m16n8k256,    Mod::m16n16k16,
                        Mod::m32n8k16,     Mod::m8n32k16,
                        Mod::m16n16k8,     Mod::ordered_metadata,
                        Mod::kind_f8f6f4,  Mod::kind_mxf8f6f4,
                        Mod::kind_mxf4,    Mod::kind_mxf4nvf4,
                        Mod::block_scale,  Mod::scale_vec_1X,
                        Mod::scale_vec_2X, Mod::scale_vec_4X,
                        Mod::ue8m0,        Mod::ue4m3};

bool is_integer(Element e) { return tensor::format(e).is_integer(); }

// Checks the requirements of a form beyond its shape and types.
bool well_formed(Lowering& lo, const TensorUse& use) {
  const ModSet& mods = lo.in.mods;
  const bool bits = use.product.a == Element::b1;
  if (bits != mods.has(Mod::popc) || bits != (mods.has(Mod::xor_) || mods.has(Mod::and_)))
    return lo.refuse(".b1 needs .xor.popc or .and.popc, and other types do not take them");
  const ModSet roundings{Mod::rn, Mod::rz, Mod::rm, Mod::rp};
  if (use.product.a != Element::f64 && mods.without(roundings) != mods)
    return lo.refuse("only .f64 takes a rounding modifier");
  const bool saturates = is_integer(use.product.a) && !bits;
  if (use.product.saturates && !saturates) return lo.refuse(".satfinite is for integers only");
  const bool any_layout = use.quads || (use.wmma && use.product.a != Element::s4 &&
                                        use.product.a != Element::u4 && !bits);
  if (!any_layout && !mods.has(Mod::row_col))
    return lo.refuse("this form needs the layout .row.col");
  return lo.on_target(use.since, lo.in.name);
}

// Binds the metadata and its selector, which names the lanes that hold it.
bool lower_metadata(Lowering& lo, const TensorUse& use, std::vector<Ref>& refs, int& selector) {
  refs.push_back(lo.source(lo.operands[4], ptx::Type::b32));
  if (refs.back() == no_ref) return false;
  if (!lo.is_constant(lo.operands[5])) return lo.refuse("the sparsity selector must be a constant");
  selector = static_cast<int>(lo.constant(lo.operands[5]));
  const int most = metadata_choices(use.product);
  if (selector >= 0 && selector < most) return true;
  return lo.refuse(fmt::format("the sparsity selector of this form must be below {}", most));
}

// Binds a word of scales and `{byte, thread}`, for A and for B.
bool lower_scales(Lowering& lo, std::vector<Ref>& refs) {
  for (std::size_t i = 4; i < 8; i += 2) {
    const ptx::Operand& selectors = lo.operands[i + 1];
    if (selectors.kind != ptx::Operand::Kind::vector || selectors.count != 2)
      return lo.refuse("the selectors of scales are {byte-id, thread-id}");
    refs.push_back(lo.source(lo.operands[i], ptx::Type::b32));
    for (unsigned each = 0; each < 2; ++each)
      refs.push_back(lo.source(lo.function.pool[selectors.index + each], ptx::Type::u16));
  }
  for (const Ref ref : refs)
    if (ref == no_ref) return false;
  return true;
}

bool lower_product(Lowering& lo, const Row&) {
  const TensorUse* const use = lo.what.as<TensorUse>();
  if (!use)
    return lo.refuse(fmt::format(
        "{} is no form of PTX that is supported: see the PTX ISA for its shapes and types",
        lo.in.name));
  if (!only(lo, understood) || !well_formed(lo, *use)) return false;
  const std::size_t count = use->scaled ? 8 : use->product.sparse ? 6 : 4;
  if (lo.operands.size() != count) return lo.refuse(fmt::format("it takes {} operands", count));
  std::vector<Ref> refs;
  int selector = 0;
  if (use->quads) {
    if (!bind_quads(lo, *use, refs)) return false;
  } else {
    const Fragment parts[] = {accumulator_of(*use, use->product.d), fragment_of(*use, Of::a),
                              fragment_of(*use, Of::b), accumulator_of(*use, use->product.c)};
    for (std::size_t i = 0; i < 4; ++i)
      if (!bind_fragment(lo, i, parts[i], i == 0, refs)) return false;
    if (use->product.sparse && !lower_metadata(lo, *use, refs, selector)) return false;
    if (use->scaled && !lower_scales(lo, refs)) return false;
  }
  const std::uint32_t extra = lo.extra(refs);
  Op& op = lo.emit(use->quads       ? run_whole_warp<run_quads>
                   : use->scaled    ? run_whole_warp<run_scaled_product>
                   : is_usual(*use) ? run_whole_warp<run_usual_product>
                                    : run_whole_warp<run_product>);
  op.extra = extra;
  op.detail = static_cast<std::uint16_t>(selector);
  return true;
}

}  // namespace

void tensor_warp_rows(Rows& rows) {
  add(rows, any_form(Opcode::mma, lower_product));
  add(rows, any_form(Opcode::mma_sp, lower_product));
  add(rows, any_form(Opcode::wmma_mma, lower_product));
}

}  // namespace inflight::machine
