// Decoding of bulk and tensor copies, st.async and red.async.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "gpu/machine/families/bulk.hpp"
#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"

namespace inflight::machine {
namespace {

using async::ReduceOp;
using async::TensorType;
using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Kind = Operand::Kind;
using Name = BulkOperands::Name;
using Refs = std::array<Ref, BulkOperands::count>;

constexpr ModSet completions{Mod::mbarrier_complete_tx_bytes, Mod::bulk_group};

struct Operation {
  Mod mod;
  ReduceOp operation;
};
constexpr Operation operations[] = {
    {Mod::add, ReduceOp::add},    {Mod::min, ReduceOp::min},      {Mod::max, ReduceOp::max},
    {Mod::inc, ReduceOp::inc},    {Mod::dec, ReduceOp::dec},      {Mod::and_, ReduceOp::bit_and},
    {Mod::or_, ReduceOp::bit_or}, {Mod::xor_, ReduceOp::bit_xor},
};
constexpr ModSet operation_mods{Mod::add, Mod::min,  Mod::max, Mod::inc,
                                Mod::dec, Mod::and_, Mod::or_, Mod::xor_};

struct ElementType {
  Type ptx;
  TensorType type;
};
constexpr ElementType element_types[] = {
    {Type::u32, TensorType::u32}, {Type::s32, TensorType::s32},   {Type::b32, TensorType::u32},
    {Type::u64, TensorType::u64}, {Type::s64, TensorType::s64},   {Type::b64, TensorType::u64},
    {Type::f16, TensorType::f16}, {Type::bf16, TensorType::bf16}, {Type::f32, TensorType::f32},
    {Type::f64, TensorType::f64},
};

constexpr Mod dimensions[] = {Mod::_1d, Mod::_2d, Mod::_3d, Mod::_4d, Mod::_5d};
constexpr ModSet dimension_mods{Mod::_1d, Mod::_2d, Mod::_3d, Mod::_4d, Mod::_5d};
constexpr ModSet tensor_modes{Mod::tile, Mod::im2col, Mod::im2col_no_offs};

Refs no_refs() {
  Refs refs;
  refs.fill(no_ref);
  return refs;
}

std::optional<ReduceOp> operation_of(const Lowering& lo) {
  for (const Operation& each : operations)
    if (lo.in.mods.has(each.mod)) return each.operation;
  return {};
}
std::optional<TensorType> element_type(const Lowering& lo) {
  for (const ElementType& each : element_types)
    if (lo.in.type() == each.ptx) return each.type;
  return {};
}

// Takes operands in the order written.
class Reader {
 public:
  explicit Reader(Lowering& lo) : lo_(lo), left_(lo.operands) {
    if (lo.in.mods.has(Mod::L2_cache_hint) && !left_.empty()) take_hint();
  }
  bool address(Ref& ref, Type type) {
    return next([&](const Operand& o) { return ref = lo_.address_lanes(o, type); });
  }
  bool value(Ref& ref, Type type) {
    return next([&](const Operand& o) { return ref = lo_.source(o, type); });
  }
  // `{a, b, ...}`: `count` of them.
  bool list(Ref* refs, unsigned count, Type type) {
    return next([&](const Operand& o) {
      const bool one = o.kind != Kind::vector && count == 1;
      if (!one && (o.kind != Kind::vector || o.count != count)) {
        lo_.refuse(fmt::format("a list of {} values in braces is needed", count));
        return no_ref;
      }
      for (unsigned i = 0; i < count; ++i) {
        refs[i] = lo_.source(one ? o : lo_.function.pool[o.index + i], type);
        if (refs[i] == no_ref) return no_ref;
      }
      return refs[0];
    });
  }
  bool done() { return left_.empty() || lo_.refuse("it has more operands than it takes"); }

 private:
  // A cache policy is the last operand, except that a byte mask follows it.
  void take_hint() {
    if (!lo_.in.mods.has(Mod::cp_mask)) {
      left_ = left_.first(left_.size() - 1);
      return;
    }
    without_hint_.assign(left_.begin(), left_.end());
    if (without_hint_.size() >= 2) without_hint_.erase(without_hint_.end() - 2);
    left_ = without_hint_;
  }
  template <class Bind>
  bool next(Bind bind) {
    if (left_.empty()) return lo_.refuse("an operand is missing");
    const Ref ref = bind(left_.front());
    left_ = left_.subspan(1);
    return ref != no_ref;
  }
  Lowering& lo_;
  std::span<const Operand> left_;
  std::vector<Operand> without_hint_;
};

bool emit(Lowering& lo, Handler handler, const Refs& refs, const BulkForm& form) {
  const std::uint32_t extra = lo.extra(refs);
  Op& op = lo.emit(handler);
  op.extra = extra;
  std::memcpy(&op.imm, &form, sizeof form);
  return true;
}

// Sets what a reduction does; nothing to do for a copy.
bool reduction_of(Lowering& lo, BulkForm& form) {
  const auto operation = operation_of(lo);
  const auto type = element_type(lo);
  if (!operation || !type || !async::reduction(*operation, *type))
    return lo.refuse(fmt::format("{} is no operation that PTX has", lo.in.name));
  form.reduces = true;
  form.operation = *operation;
  form.type = static_cast<std::uint8_t>(*type);
  return true;
}

// cp.async.bulk and cp.reduce.async.bulk, by their spaces.
bool lower_bulk(Lowering& lo, const Row&) {
  const bool reduces = lo.in.opcode == Opcode::cp_reduce_async_bulk;
  if (!only(lo, completions | operation_mods | ModSet{Mod::multicast_cluster, Mod::cp_mask}))
    return false;
  const Space to = lo.in.space(0), from = lo.in.space(1);
  const bool load = is_shared(to) && from == Space::global, store = to == Space::global;
  if (!(load || store || is_shared(to)) || (store && !is_shared(from)) || (load && reduces))
    return lo.refuse("these state spaces cannot be copied between");
  const bool masked = lo.in.mods.has(Mod::cp_mask);
  if (masked && (!store || reduces)) return lo.refuse("only copies to .global have .cp_mask");
  if (masked && !lo.on_target(100, ".cp_mask")) return false;
  BulkForm form;
  form.own_only = to == Space::shared_cta;
  if (reduces && !reduction_of(lo, form)) return false;
  Refs refs = no_refs();
  Reader in(lo);
  if (!in.address(refs[Name::to], store ? Type::u64 : Type::u32) ||
      !in.address(refs[Name::from], load ? Type::u64 : Type::u32) ||
      !in.value(refs[Name::size], Type::u32))
    return false;
  if (!store && !in.address(refs[Name::mbarrier], Type::u32)) return false;
  if (lo.in.mods.has(Mod::multicast_cluster) && !in.value(refs[Name::ctas], Type::u16))
    return false;
  if (masked && !in.value(refs[Name::mask], Type::u16)) return false;
  return in.done() && emit(lo, load ? bulk_load : store ? bulk_store : bulk_copy, refs, form);
}

bool lower_prefetch(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::L2})) return false;
  Refs refs = no_refs();
  Reader in(lo);
  return in.address(refs[Name::from], Type::u64) && in.value(refs[Name::size], Type::u32) &&
         in.done() && emit(lo, bulk_prefetch, refs, {});
}

// --- tensors ---

bool tensor_form(Lowering& lo, BulkForm& form) {
  for (unsigned i = 0; i < std::size(dimensions); ++i)
    if (lo.in.mods.has(dimensions[i])) form.rank = static_cast<std::uint8_t>(i + 1);
  form.im2col = lo.in.mods.has(Mod::im2col) || lo.in.mods.has(Mod::im2col_no_offs);
  if (form.rank == 0) return lo.refuse("its dimension is missing");
  if (form.im2col && form.rank < 3) return lo.refuse("im2col copies have 3 to 5 dimensions");
  return true;
}

// `[map, {coordinates}]`
bool map_and_place(Reader& in, Refs& refs, const BulkForm& form) {
  return in.address(refs[Name::map], Type::u64) &&
         in.list(&refs[Name::place], form.rank, Type::u32);
}

bool lower_tensor(Lowering& lo, const Row&) {
  const bool reduces = lo.in.opcode == Opcode::cp_reduce_async_bulk_tensor;
  if (!only(lo, completions | dimension_mods | tensor_modes | operation_mods |
                    ModSet{Mod::multicast_cluster}))
    return false;
  const Space to = lo.in.space(0);
  BulkForm form;
  if (!tensor_form(lo, form)) return false;
  Refs refs = no_refs();
  Reader in(lo);
  if (to == Space::global) {
    if (reduces) {
      const auto operation = operation_of(lo);
      if (!operation) return lo.refuse("its operation is missing");
      form.reduces = true, form.operation = *operation;
    }
    return map_and_place(in, refs, form) && in.address(refs[Name::from], Type::u32) && in.done() &&
           emit(lo, bulk_tensor_store, refs, form);
  }
  if (!is_shared(to) || reduces) return lo.refuse("these state spaces cannot be copied between");
  form.own_only = to == Space::shared_cta;
  if (!in.address(refs[Name::to], Type::u32) || !map_and_place(in, refs, form) ||
      !in.address(refs[Name::mbarrier], Type::u32))
    return false;
  if (lo.in.mods.has(Mod::im2col) && !in.list(&refs[Name::offset], form.rank - 2u, Type::u16))
    return false;
  if (lo.in.mods.has(Mod::multicast_cluster) && !in.value(refs[Name::ctas], Type::u16))
    return false;
  return in.done() && emit(lo, bulk_tensor_load, refs, form);
}

bool lower_tensor_prefetch(Lowering& lo, const Row&) {
  if (!only(lo, dimension_mods | tensor_modes | ModSet{Mod::L2})) return false;
  BulkForm form;
  if (!tensor_form(lo, form)) return false;
  Refs refs = no_refs();
  Reader in(lo);
  if (!map_and_place(in, refs, form)) return false;
  if (lo.in.mods.has(Mod::im2col) && !in.list(&refs[Name::offset], form.rank - 2u, Type::u16))
    return false;
  return in.done() && emit(lo, bulk_tensor_prefetch, refs, form);
}

// --- groups ---

bool lower_commit(Lowering& lo, const Row&) {
  return only(lo, {}) && emit(lo, bulk_commit, no_refs(), {});
}

bool lower_wait(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::read})) return false;
  if (lo.operands.size() != 1 || !lo.is_constant(lo.operands[0]))
    return lo.refuse("it takes a constant");
  Op& op = lo.emit(bulk_wait);
  op.imm = lo.constant(lo.operands[0]);
  op.detail = lo.in.mods.has(Mod::read);
  return true;
}

// --- st.async [address], value, [mbarrier]; red.async likewise ---

bool lower_async_store(Lowering& lo, const Row&) {
  const bool reduces = lo.in.opcode == Opcode::red_async;
  if (!only(lo, operation_mods |
                    ModSet{Mod::weak, Mod::relaxed, Mod::cluster, Mod::mbarrier_complete_tx_bytes}))
    return false;
  if (lo.in.space() != Space::shared_cluster)
    return lo.refuse("only .shared::cluster is supported before sm_100");
  AsyncStoreForm form;
  form.bytes = static_cast<std::uint8_t>(ptx::size_of(lo.in.type()));
  if (form.bytes != 4 && form.bytes != 8) return lo.refuse("values have 32 or 64 bits");
  if (reduces) {
    BulkForm reduction;
    if (!reduction_of(lo, reduction)) return false;
    form.reduces = true, form.operation = reduction.operation, form.type = reduction.type;
  }
  const Type type = form.bytes == 8 ? Type::b64 : Type::b32;
  Refs refs = no_refs();
  Reader in(lo);
  if (!in.address(refs[Name::to], Type::u32) || !in.list(&refs[Name::place], lo.in.vector, type) ||
      !in.address(refs[Name::mbarrier], Type::u32) || !in.done())
    return false;
  const std::uint32_t extra = lo.extra(refs);
  Op& op = lo.emit(async_store);
  op.extra = extra;
  op.count = lo.in.vector;
  std::memcpy(&op.imm, &form, sizeof form);
  return true;
}

}  // namespace

void bulk_rows(Rows& rows) {
  add(rows, any_form(Opcode::cp_async_bulk, lower_bulk));
  add(rows, any_form(Opcode::cp_reduce_async_bulk, lower_bulk));
  add(rows, any_form(Opcode::cp_async_bulk_prefetch, lower_prefetch));
  add(rows, any_form(Opcode::cp_async_bulk_tensor, lower_tensor));
  add(rows, any_form(Opcode::cp_reduce_async_bulk_tensor, lower_tensor));
  add(rows, any_form(Opcode::cp_async_bulk_prefetch_tensor, lower_tensor_prefetch));
  add(rows, any_form(Opcode::cp_async_bulk_commit_group, lower_commit));
  add(rows, any_form(Opcode::cp_async_bulk_wait_group, lower_wait));
  add(rows, any_form(Opcode::st_async, lower_async_store));
  add(rows, any_form(Opcode::red_async, lower_async_store));
}

}  // namespace inflight::machine
