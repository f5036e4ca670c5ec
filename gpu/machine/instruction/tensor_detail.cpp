// The forms of mma, mma.sp and wmma (PTX ISA, "Warp Level Matrix Multiply-Accumulate
// Instructions").
#include "gpu/machine/instruction/tensor_detail.hpp"

#include <optional>

#include "gpu/machine/instruction/modifiers.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Type;
using tensor::Element;
using Of = TensorUse::Of;

// Classes of element types. A and B of one form may mix types of one class.
// `narrow` are the floats of 4 and 6 bits, which only .kind::... forms take.
enum class Kind : std::uint8_t { f16, bf16, tf32, f64, fp8, narrow, int8, int4, bit };

struct Named {
  Type type;
  Element element;
  Kind kind;
};
constexpr Named inputs[] = {
    {Type::f16, Element::f16, Kind::f16},      {Type::bf16, Element::bf16, Kind::bf16},
    {Type::tf32, Element::tf32, Kind::tf32},   {Type::f64, Element::f64, Kind::f64},
    {Type::e4m3, Element::e4m3, Kind::fp8},    {Type::e5m2, Element::e5m2, Kind::fp8},
    {Type::e2m3, Element::e2m3, Kind::narrow}, {Type::e3m2, Element::e3m2, Kind::narrow},
    {Type::e2m1, Element::e2m1, Kind::narrow}, {Type::s8, Element::s8, Kind::int8},
    {Type::u8, Element::u8, Kind::int8},       {Type::s4, Element::s4, Kind::int4},
    {Type::u4, Element::u4, Kind::int4},       {Type::b1, Element::b1, Kind::bit}};
constexpr Named accumulators[] = {{Type::f16, Element::f16, {}},
                                  {Type::f32, Element::f32, {}},
                                  {Type::f64, Element::f64, {}},
                                  {Type::s32, Element::s32, {}}};

template <std::size_t n>
const Named* find(const Named (&table)[n], Type type) {
  for (const Named& each : table)
    if (each.type == type) return &each;
  return nullptr;
}

struct Form {
  int m, n, k;
  Kind kind;
  int since;
};
constexpr Form mma_forms[] = {
    {8, 8, 4, Kind::f16, 70},    {16, 8, 8, Kind::f16, 75},   {16, 8, 16, Kind::f16, 80},
    {16, 8, 8, Kind::bf16, 80},  {16, 8, 16, Kind::bf16, 80}, {16, 8, 4, Kind::tf32, 80},
    {16, 8, 8, Kind::tf32, 80},  {8, 8, 4, Kind::f64, 80},    {16, 8, 4, Kind::f64, 90},
    {16, 8, 8, Kind::f64, 90},   {16, 8, 16, Kind::f64, 90},  {16, 8, 16, Kind::fp8, 89},
    {16, 8, 32, Kind::fp8, 89},  {8, 8, 16, Kind::int8, 75},  {16, 8, 16, Kind::int8, 80},
    {16, 8, 32, Kind::int8, 80}, {8, 8, 32, Kind::int4, 75},  {16, 8, 32, Kind::int4, 80},
    {16, 8, 64, Kind::int4, 80}, {8, 8, 128, Kind::bit, 75},  {16, 8, 128, Kind::bit, 80},
    {16, 8, 256, Kind::bit, 80},
};
constexpr Form sparse_forms[] = {
    {16, 8, 16, Kind::f16, 80},   {16, 8, 32, Kind::f16, 80},  {16, 8, 16, Kind::bf16, 80},
    {16, 8, 32, Kind::bf16, 80},  {16, 8, 8, Kind::tf32, 80},  {16, 8, 16, Kind::tf32, 80},
    {16, 8, 32, Kind::int8, 80},  {16, 8, 64, Kind::int8, 80}, {16, 8, 64, Kind::int4, 80},
    {16, 8, 128, Kind::int4, 80}, {16, 8, 64, Kind::fp8, 89},
};
constexpr Form wmma_forms[] = {
    {16, 16, 16, Kind::f16, 70},  {32, 8, 16, Kind::f16, 70},  {8, 32, 16, Kind::f16, 70},
    {16, 16, 16, Kind::bf16, 80}, {32, 8, 16, Kind::bf16, 80}, {8, 32, 16, Kind::bf16, 80},
    {16, 16, 8, Kind::tf32, 80},  {8, 8, 4, Kind::f64, 80},    {16, 16, 16, Kind::int8, 72},
    {32, 8, 16, Kind::int8, 72},  {8, 32, 16, Kind::int8, 72}, {8, 8, 32, Kind::int4, 75},
    {8, 8, 128, Kind::bit, 75},
};

bool has_shape(const Form& form, const ptx::Instruction& in) {
  return form.m == in.shape[0] && form.n == in.shape[1] && form.k == in.shape[2];
}

const Form* find_form(std::span<const Form> forms, const ptx::Instruction& in, Kind kind) {
  for (const Form& form : forms)
    if (form.kind == kind && has_shape(form, in)) return &form;
  return nullptr;
}

bool accumulates(Kind kind, Element e) {
  if (kind == Kind::f16 || kind == Kind::fp8 || kind == Kind::narrow)
    return e == Element::f16 || e == Element::f32;
  if (kind == Kind::f64) return e == Element::f64;
  return kind >= Kind::int8 ? e == Element::s32 : e == Element::f32;
}

void set_shape(TensorUse& use, const Form& form) {
  use.product.m = form.m, use.product.n = form.n, use.product.k = form.k;
  use.since = form.since;
}

// wmma.mma with two types, as in `.f32.f16`, names those of d and c. A and B are then f16.
std::array<Type, 4> types_of(const ptx::Instruction& in) {
  if (in.opcode != Opcode::wmma_mma || in.type_count != 2) return in.types;
  return {in.types[0], Type::f16, Type::f16, in.types[1]};
}

// The types of c and d must be equal, except in wmma and in Volta's m8n8k4.
bool goes_together(const TensorUse& use) {
  const tensor::Product& p = use.product;
  if (p.c == p.d || use.wmma) return true;
  return use.quads && p.c == Element::f16;
}

tensor::Rounding rounding_of(const ptx::ModSet& mods) {
  using tensor::Rounding;
  if (mods.has(Mod::rz)) return Rounding::zero;
  if (mods.has(Mod::rm)) return Rounding::down;
  return mods.has(Mod::rp) ? Rounding::up : Rounding::nearest;
}

// The forms with .kind:: of mma and mma.sp, of which sm_120 is the first.
struct KindForm {
  Mod mod;
  bool scaled, packed;
  int k;       // of dense matrices
  int blocks;  // of scales, unless the modifiers say
};
constexpr KindForm kind_forms[] = {{Mod::kind_f8f6f4, false, false, 32, 1},
                                   {Mod::kind_mxf8f6f4, true, false, 32, 1},
                                   {Mod::kind_mxf4, true, true, 64, 2},
                                   {Mod::kind_mxf4nvf4, true, true, 64, 0}};
constexpr Means<int> scale_blocks[] = {
    {Mod::scale_vec_1X, 1}, {Mod::scale_vec_2X, 2}, {Mod::scale_vec_4X, 4}};

// Does this kind have such scales? Those of 16 elements may be ue4m3, and must be for four blocks.
bool scales_fit(const KindForm& kind, const TensorUse& use) {
  const int blocks = use.scales.blocks;
  if (kind.mod != Mod::kind_mxf4nvf4) return blocks == kind.blocks && !use.scales.is_ue4m3;
  return (blocks == 2 && !use.scales.is_ue4m3) || (blocks == 4 && use.scales.is_ue4m3);
}

bool is_narrow(const Named& type, bool packed) {
  return packed ? type.element == Element::e2m1
                : type.kind == Kind::narrow || type.kind == Kind::fp8;
}

Detail kind_use(const ptx::Instruction& in, const KindForm& kind) {
  const Named *const d = find(accumulators, in.types[0]), *const a = find(inputs, in.types[1]),
                     *const b = find(inputs, in.types[2]),
                     *const c = find(accumulators, in.types[3]);
  TensorUse use;
  use.product.sparse = in.opcode == Opcode::mma_sp;
  if (!a || !b || !c || d != c || !accumulates(Kind::narrow, d->element) ||
      (kind.scaled && use.product.sparse))
    return {};
  if (!is_narrow(*a, kind.packed) || !is_narrow(*b, kind.packed)) return {};
  const Form form{16, 8, use.product.sparse ? 2 * kind.k : kind.k, Kind::narrow, 120};
  if (!has_shape(form, in) || (kind.scaled && d->element != Element::f32)) return {};
  use.product.a = a->element, use.product.b = b->element;
  use.product.c = c->element, use.product.d = d->element;
  set_shape(use, form);
  use.scaled = kind.scaled, use.packed = kind.packed;
  if (kind.scaled) {
    use.scales.blocks = meaning(in.mods, scale_blocks).value_or(kind.blocks);
    use.scales.is_ue4m3 = in.mods.has(Mod::ue4m3);
    if (!in.mods.has(Mod::block_scale) || !scales_fit(kind, use)) return {};
    if (in.mods.has(Mod::ue8m0) == in.mods.has(Mod::ue4m3)) return {};
  }
  return use;
}

Detail product_use(const ptx::Instruction& in) {
  for (const KindForm& kind : kind_forms)
    if (in.mods.has(kind.mod)) return in.opcode == Opcode::wmma_mma ? Detail{} : kind_use(in, kind);
  const auto types = types_of(in);
  const Named *const d = find(accumulators, types[0]), *const a = find(inputs, types[1]),
                     *const b = find(inputs, types[2]), *const c = find(accumulators, types[3]);
  if (!a || !b || !c || !d || a->kind != b->kind || a->kind == Kind::narrow) return {};
  TensorUse use;
  use.wmma = in.opcode == Opcode::wmma_mma;
  use.product = {.a = a->element, .b = b->element, .c = c->element, .d = d->element};
  use.product.sparse = in.opcode == Opcode::mma_sp;
  use.product.saturates = in.mods.has(Mod::satfinite);
  const Form* const form = use.wmma             ? find_form(wmma_forms, in, a->kind)
                           : use.product.sparse ? find_form(sparse_forms, in, a->kind)
                                                : find_form(mma_forms, in, a->kind);
  if (!form || !accumulates(a->kind, c->element) || !accumulates(a->kind, d->element)) return {};
  set_shape(use, *form);
  if (use.product.sparse && a->kind == Kind::fp8 && d->element != Element::f32) use.since = 120;
  use.quads = !use.wmma && a->kind == Kind::f16 && form->k == 4;
  if (use.quads) use.product.unit = tensor::Unit::quads;
  if (use.wmma && a->kind == Kind::tf32) use.product.most_at_once = 4;  // two products of k4
  use.product.rounding = rounding_of(in.mods);
  use.a_by_columns = in.mods.has(Mod::col_row) || in.mods.has(Mod::col_col);
  use.b_by_rows = in.mods.has(Mod::col_row) || in.mods.has(Mod::row_row);
  if (in.mods.has(Mod::and_)) {
    use.product.bits = tensor::BitOperation::and_popc;
    use.since = 80;
  }
  return goes_together(use) ? Detail{use} : Detail{};
}

Detail moved_use(const ptx::Instruction& in) {
  TensorUse use;
  use.wmma = true;
  use.of = in.mods.has(Mod::a) ? Of::a : in.mods.has(Mod::b) ? Of::b : Of::accumulator;
  use.by_columns = in.mods.has(Mod::col);
  const Named* const named =
      use.of == Of::accumulator ? find(accumulators, in.type()) : find(inputs, in.type());
  if (!named) return {};
  for (const Form& form : wmma_forms) {
    if (!has_shape(form, in)) continue;
    const bool fits = use.of == Of::accumulator ? accumulates(form.kind, named->element)
                                                : form.kind == named->kind;
    if (!fits) continue;
    set_shape(use, form);
    (use.of == Of::a   ? use.product.a
     : use.of == Of::b ? use.product.b
                       : use.product.d) = named->element;
    return use;
  }
  return {};
}

int rows_of(const TensorUse& use) { return use.of == Of::b ? use.product.k : use.product.m; }
int columns_of(const TensorUse& use) { return use.of == Of::a ? use.product.k : use.product.n; }

}  // namespace

Detail tensor_use(const ptx::Function&, const ptx::Instruction& in) {
  const bool moves = in.opcode == Opcode::wmma_load || in.opcode == Opcode::wmma_store;
  return moves ? moved_use(in) : product_use(in);
}

Element element_of(const TensorUse& use) {
  return use.of == Of::a ? use.product.a : use.of == Of::b ? use.product.b : use.product.d;
}
int lines_of(const TensorUse& use) { return use.by_columns ? columns_of(use) : rows_of(use); }
int line_elements(const TensorUse& use) { return use.by_columns ? rows_of(use) : columns_of(use); }

std::uint32_t matrix_bytes(const Detail& detail) {
  const auto* const use = std::get_if<TensorUse>(&detail);
  if (!use) return 0;
  return static_cast<std::uint32_t>(tensor::packed_bytes(
      element_of(*use), static_cast<std::size_t>(lines_of(*use) * line_elements(*use))));
}

}  // namespace inflight::machine
