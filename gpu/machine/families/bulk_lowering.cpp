// Decodes bulk and tensor copies, st.async and red.async.
#include <fmt/format.h>

#include <array>

#include "gpu/machine/families/bulk.hpp"
#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/instruction/copy_detail.hpp"

namespace inflight::machine {
namespace {

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

constexpr ModSet scopes{Mod::cta, Mod::cluster, Mod::gpu, Mod::sys};

constexpr ModSet operation_mods{Mod::add, Mod::min,  Mod::max, Mod::inc,
                                Mod::dec, Mod::and_, Mod::or_, Mod::xor_};

constexpr ModSet dimension_mods{Mod::_1d, Mod::_2d, Mod::_3d, Mod::_4d, Mod::_5d};
constexpr ModSet four_rows{Mod::tile_gather4, Mod::tile_scatter4};
constexpr ModSet tensor_modes = ModSet{Mod::tile, Mod::im2col, Mod::im2col_no_offs} | four_rows;

Refs no_refs() {
  Refs refs;
  refs.fill(no_ref);
  return refs;
}

// Binds operands in the order written.
class Reader {
 public:
  explicit Reader(Lowering& lo) : lo_(lo), left_(lo.operands) {
    if (lo.in.mods.has(Mod::L2_cache_hint) && !left_.empty()) take_hint();
  }
  bool address(Ref& ref, Space space) {
    return next([&](const Operand& o) { return ref = lo_.address_lanes(o, space); });
  }
  bool value(Ref& ref, Type type) {
    return next([&](const Operand& o) { return ref = lo_.source(o, type); });
  }
  // `{a, b, ...}`: a list of `count` values.
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
  bool done() { return left_.empty() || lo_.refuse("it has too many operands"); }

 private:
  // A cache policy is the last operand, or the last but one before a byte mask.
  void take_hint() {
    if (!lo_.what.as<CopyUse>()->masked) {
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

bool emit(Lowering& lo, Handler handler, const Refs& refs) {
  const std::uint32_t extra = lo.extra(refs);
  lo.emit(handler).extra = extra;
  return true;
}

// Whether this reduction exists for the type. If not, refuses it.
bool can_reduce(Lowering& lo) {
  const CopyUse& use = *lo.what.as<CopyUse>();
  if (use.reduces && element_type_of(lo.in.type()) &&
      async::reduction(use.reduction.operation, use.reduction.type))
    return true;
  return lo.refuse(fmt::format("PTX has no instruction {}", lo.in.name));
}

// .relaxed needs a scope and the type .b128. Other copies have neither.
bool check_order(Lowering& lo, bool reduces) {
  const ModSet& mods = lo.in.mods;
  const bool strong = mods.has(Mod::relaxed);
  if (reduces || (!strong && mods.without(scopes) == mods && lo.in.type_count == 0)) return true;
  if (strong && !mods.has(Mod::weak) && lo.in.type() == Type::b128 &&
      mods.without(scopes) != mods) {
    const bool own = lo.in.space(0) != Space::global && lo.in.space(1) != Space::global;
    if (!own || mods.has(Mod::cta) || mods.has(Mod::cluster)) return true;
    return lo.refuse("a copy between blocks is strong at the scope .cta or .cluster");
  }
  return lo.refuse("a strong copy is written .relaxed.scope ... .b128");
}

// .ignore_oob leaves out bytes of a load to the block's own shared memory.
bool check_ends(Lowering& lo, const CopyUse& use) {
  if (!use.skips || (lo.in.space(0) == Space::shared_cta && lo.in.space(1) == Space::global))
    return true;
  return lo.refuse("only copies from .global to .shared::cta have .ignore_oob");
}

// cp.async.bulk and cp.reduce.async.bulk. Their spaces determine the direction.
bool lower_bulk(Lowering& lo, const Row&) {
  const bool reduces = lo.in.opcode == Opcode::cp_reduce_async_bulk;
  const ModSet once{Mod::multicast_cluster, Mod::cp_mask, Mod::ignore_oob, Mod::weak, Mod::relaxed};
  if (!only(lo, completions | operation_mods | scopes | once)) return false;
  const Space to = lo.in.space(0), from = lo.in.space(1);
  const bool load = is_shared(to) && from == Space::global, store = to == Space::global;
  if (!(load || store || is_shared(to)) || (store && !is_shared(from)) || (load && reduces))
    return lo.refuse("copies between these state spaces are not possible");
  const CopyUse& use = *lo.what.as<CopyUse>();
  if (use.masked && (!store || reduces)) return lo.refuse("only copies to .global have .cp_mask");
  if (use.masked && !lo.on_target(100, ".cp_mask")) return false;
  if (!check_order(lo, reduces) || !check_ends(lo, use)) return false;
  if (reduces && !can_reduce(lo)) return false;
  Refs refs = no_refs();
  Reader in(lo);
  if (!in.address(refs[Name::to], to) || !in.address(refs[Name::from], from) ||
      !in.value(refs[Name::size], Type::u32))
    return false;
  if (use.skips &&
      (!in.value(refs[Name::left], Type::u32) || !in.value(refs[Name::right], Type::u32)))
    return false;
  if (!store && !in.address(refs[Name::mbarrier], Space::shared)) return false;
  if (use.multicast && !in.value(refs[Name::ctas], Type::u16)) return false;
  if (use.masked && !in.value(refs[Name::mask], Type::u16)) return false;
  return in.done() && emit(lo, load ? bulk_load : store ? bulk_store : bulk_copy, refs);
}

bool lower_prefetch(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::L2})) return false;
  Refs refs = no_refs();
  Reader in(lo);
  return in.address(refs[Name::from], Space::global) && in.value(refs[Name::size], Type::u32) &&
         in.done() && emit(lo, bulk_prefetch, refs);
}

// --- tensors ---

bool check_rank(Lowering& lo, const CopyUse& use) {
  if (use.rank == 0) return lo.refuse("its dimension is missing");
  if (use.im2col && use.rank < 3) return lo.refuse("im2col copies have 3 to 5 dimensions");
  return true;
}

// .tile::gather4 loads four rows of a matrix, and .tile::scatter4 stores four.
bool check_rows(Lowering& lo, const CopyUse& use, bool store) {
  if (lo.in.mods.without(four_rows) == lo.in.mods) return true;
  if (use.rank != 2 || lo.in.mods.has(Mod::tile) || use.im2col)
    return lo.refuse("four rows are copied in .2d and no other mode");
  if (lo.in.mods.has(Mod::tile_scatter4) != store || use.reduces)
    return lo.refuse("loads have .tile::gather4 and stores .tile::scatter4");
  return lo.on_target(100, lo.in.name);
}

// `[map, {coordinates}]`
bool map_and_place(const Lowering& lo, Reader& in, Refs& refs, const CopyUse& use) {
  constexpr unsigned column_and_rows = 5;
  const bool four = lo.in.mods.without(four_rows) != lo.in.mods;
  return in.address(refs[Name::map], Space::generic) &&
         in.list(&refs[Name::place], four ? column_and_rows : use.rank, Type::u32);
}

bool lower_tensor(Lowering& lo, const Row&) {
  const bool reduces = lo.in.opcode == Opcode::cp_reduce_async_bulk_tensor;
  const ModSet groups{Mod::cta_group_1, Mod::cta_group_2};
  if (!only(lo, completions | dimension_mods | tensor_modes | operation_mods | groups |
                    ModSet{Mod::multicast_cluster}))
    return false;
  if (lo.in.mods.without(groups) != lo.in.mods && !lo.on_target(100, ".cta_group")) return false;
  const Space to = lo.in.space(0);
  lo.code().copies_tensors = true;
  const CopyUse& use = *lo.what.as<CopyUse>();
  if (!check_rank(lo, use) || !check_rows(lo, use, to == Space::global)) return false;
  Refs refs = no_refs();
  Reader in(lo);
  if (to == Space::global) {
    if (reduces && !use.reduces) return lo.refuse("its operation is missing");
    return map_and_place(lo, in, refs, use) && in.address(refs[Name::from], Space::shared) &&
           in.done() && emit(lo, bulk_tensor_store, refs);
  }
  if (!is_shared(to) || reduces)
    return lo.refuse("copies between these state spaces are not possible");
  if (!in.address(refs[Name::to], to) || !map_and_place(lo, in, refs, use) ||
      !in.address(refs[Name::mbarrier], Space::shared))
    return false;
  if (lo.in.mods.has(Mod::im2col) && !in.list(&refs[Name::offset], use.rank - 2u, Type::u16))
    return false;
  if (use.multicast && !in.value(refs[Name::ctas], Type::u16)) return false;
  return in.done() && emit(lo, bulk_tensor_load, refs);
}

bool lower_tensor_prefetch(Lowering& lo, const Row&) {
  if (!only(lo, dimension_mods | tensor_modes | ModSet{Mod::L2})) return false;
  const CopyUse& use = *lo.what.as<CopyUse>();
  if (!check_rank(lo, use) || !check_rows(lo, use, false)) return false;
  Refs refs = no_refs();
  Reader in(lo);
  if (!map_and_place(lo, in, refs, use)) return false;
  if (lo.in.mods.has(Mod::im2col) && !in.list(&refs[Name::offset], use.rank - 2u, Type::u16))
    return false;
  return in.done() && emit(lo, bulk_tensor_prefetch, refs);
}

// --- groups ---

bool lower_commit(Lowering& lo, const Row&) {
  return only(lo, {}) && emit(lo, bulk_commit, no_refs());
}

bool lower_wait(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::read})) return false;
  if (lo.operands.size() != 1 || !lo.is_constant(lo.operands[0]))
    return lo.refuse("it takes a constant");
  lo.emit(bulk_wait);
  return true;
}

// --- st.async and red.async [address], value, [mbarrier] ---

bool lower_async_store(Lowering& lo, const Row&) {
  const bool reduces = lo.in.opcode == Opcode::red_async;
  if (!only(lo, operation_mods |
                    ModSet{Mod::weak, Mod::relaxed, Mod::cluster, Mod::mbarrier_complete_tx_bytes}))
    return false;
  if (lo.in.space() != Space::shared_cluster)
    return lo.refuse("only .shared::cluster is supported before sm_100");
  const CopyUse& use = *lo.what.as<CopyUse>();
  if (use.bytes != 4 && use.bytes != 8) return lo.refuse("values have 32 or 64 bits");
  if (reduces && !can_reduce(lo)) return false;
  const Type type = use.bytes == 8 ? Type::b64 : Type::b32;
  Refs refs = no_refs();
  Reader in(lo);
  if (!in.address(refs[Name::to], Space::shared_cluster) ||
      !in.list(&refs[Name::place], use.count, type) ||
      !in.address(refs[Name::mbarrier], Space::shared) || !in.done())
    return false;
  return emit(lo, async_store, refs);
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
