// tcgen05.mma, cp, shift and commit: what a thread gives to the tensor cores, and how it learns
// that it is complete (PTX ISA, "TensorCore 5th Generation: Matrix Multiply and accumulate", "Data
// Movement", "Asynchronous completion").
//
// Descriptors, addresses and the predicate are read at the issue, and checked there.
// gpu/async/tensor_work determines when the operation happens and which data it reads.
#include <fmt/format.h>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/families/tcgen05.hpp"
#include "gpu/machine/families/tcgen05_events.hpp"
#include "gpu/machine/families/tcgen05_operands.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/in_flight.hpp"
#include "gpu/machine/run/mbarriers.hpp"

namespace inflight::machine {
namespace {

using async::TensorOperation;
using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

std::uint32_t thread_of(const Warp& w, int lane) {
  return cluster_thread(w.block->rank, w.first_thread() + static_cast<std::uint32_t>(lane));
}
async::TensorWork& work_of(Warp& w) { return in_flight(*w.block->cluster).ledger.tensor_work(); }

// --- mma: Op::a, b: descriptors or A's address; c: the predicate; d: D's address; extra: the
// registers below ---

struct Extra {
  enum Name : unsigned { descriptor, metadata, scale_a, scale_b, first_mask };
  static constexpr unsigned most_masks = 8;
};

Ref extra(const Warp& w, const Op* op, unsigned name) {
  return w.frame->code->extra[op->extra + name];
}
std::uint32_t word(const Warp& w, Ref ref, int lane) {
  return ref == no_ref ? 0 : w.at<std::uint32_t>(ref)[lane];
}

// Checks the issue of one lane. A check that fails ends the kernel and returns false.
class Issue {
 public:
  Issue(Warp& w, const Op* op, const BlockMultiplyUse& use, const TensorOperation& issued)
      : w_(w), op_(op), use_(use), o_(issued) {}

  bool check(std::uint64_t& cost) {
    std::string mistake;
    std::string_view name;
    of_ = instruction_descriptor(o_.descriptor, use_, mistake, name);
    if (!mistake.empty()) return fail("its instruction descriptor is wrong: " + mistake, name);
    cost = static_cast<std::uint64_t>(of_.product.n);
    const BlockLayout layout = layout_of(use_, of_);
    for (std::uint32_t i = 0; i < use_.group; ++i) {
      Block& block = i == 0 ? *w_.block : peer_of(*w_.block);
      if (!columns(block, layout) || !shared(block, layout)) return false;
    }
    return lanes(layout);
  }
  const InstructionDescriptor& descriptor() const { return of_; }

 private:
  bool fail(std::string why, std::string_view name = {}) {
    tensor_memory_fault(w_, op_, std::move(why), name);
    return false;
  }
  bool has(Block& block, std::uint32_t address, std::uint32_t count, std::string_view what) {
    return has_columns(w_, op_, block, TensorAddress(address), count, what);
  }

  bool columns(Block& block, const BlockLayout& layout) {
    constexpr std::uint32_t id_bits = 0xc0000000;
    if (!has(block, o_.d, columns_of_d(layout, of_), "D")) return false;
    if (use_.a_in_tensor_memory && !has(block, static_cast<std::uint32_t>(o_.a), columns_of_a, "A"))
      return false;
    if (use_.sparse && !has(block, o_.metadata, use_.kind >= BlockMultiplyUse::Kind::f8f6f4 ? 2 : 1,
                            "the sparsity metadata"))
      return false;
    return !use_.scaled() ||
           (has(block, o_.scale_a & ~id_bits, columns_of_scales(layout.rows), "scale-A") &&
            has(block, o_.scale_b & ~id_bits,
                columns_of_scales(static_cast<std::uint32_t>(of_.product.n)), "scale-B"));
  }

  bool shared(const Block& block, const BlockLayout& layout) {
    const auto one = [&](char which, std::uint64_t bits, async::Major major, std::uint32_t mn,
                         std::uint32_t row_bytes, tensor::Element e) {
      const std::uint32_t element = tensor::format(e).bits / 8u;
      if (const std::string why = matrix_descriptor_mistake(bits, major, element); !why.empty())
        return fail(fmt::format("the descriptor of matrix {} is wrong: {}", which, why));
      const BlockOperand o = block_operand(bits, major, mn, row_bytes, e);
      return o.end() <= block.shared_end || outside(block, which, o);
    };
    const auto columns = static_cast<std::uint32_t>(of_.product.n) / use_.group;
    return (use_.a_in_tensor_memory ||
            one('A', o_.a, of_.a_major, layout.rows, of_.row_bytes_a, of_.product.a)) &&
           one('B', o_.b, of_.b_major, columns, of_.row_bytes_b(), of_.product.b);
  }

  bool outside(const Block& block, char which, const BlockOperand& o) {
    FaultDetail about;
    about.access = true;
    about.space = Space::shared;
    about.address = o.descriptor.start;
    about.bytes = o.end() - o.descriptor.start;
    w_.fault(op_, FaultKind::illegal_address, w_.mask,
             fmt::format("matrix {} covers shared memory from offset 0x{:x} to 0x{:x}, by its "
                         "descriptor, but the block's ends at 0x{:x}",
                         which, o.descriptor.start, o.end(), block.shared_end),
             about);
    return false;
  }

  // The lanes of the addresses must be where the matrices can begin.
  bool lanes(const BlockLayout& layout) {
    const std::uint32_t d = TensorAddress(o_.d).lane;
    if (d != 0 && !(layout.spread && d == 16))
      return fail(fmt::format("the address of D has lane {}; with this shape it must be {}", d,
                              layout.spread ? "0 or 16" : "0"),
                  "invalid_datapath_alignment");
    const auto agrees = [&](std::uint32_t address, std::string_view what) {
      const std::uint32_t lane = TensorAddress(address).lane;
      return lane == d ||
             fail(fmt::format("the address of {} has lane {}, but that of D has {}", what, lane, d),
                  "invalid_datapath_alignment");
    };
    return (!use_.a_in_tensor_memory || agrees(static_cast<std::uint32_t>(o_.a), "A")) &&
           (!use_.sparse || agrees(o_.metadata, "the sparsity metadata"));
  }

  Warp& w_;
  const Op* const op_;
  const BlockMultiplyUse& use_;
  const TensorOperation& o_;
  InstructionDescriptor of_;
};

const Op* run_multiply(Warp& w, const Op* op) {
  const auto& use = use_of<BlockMultiplyUse>(op);
  if (!has_group(w, op, use.group)) return nullptr;
  const std::uint32_t accumulating = w.predicate(op->c, op->flags & Op::negate_c);
  std::uint64_t cost = 0;
  const bool checked = each_lane(w.mask, [&](int l) {
    TensorOperation o;
    o.what = op, o.context = w.block;
    o.perform = perform_multiply;
    o.a = use.a_in_tensor_memory ? w.at<std::uint32_t>(op->a)[l] : w.at<std::uint64_t>(op->a)[l];
    o.b = w.at<std::uint64_t>(op->b)[l];
    o.d = w.at<std::uint32_t>(op->d)[l];
    o.descriptor = word(w, extra(w, op, Extra::descriptor), l);
    o.metadata = word(w, extra(w, op, Extra::metadata), l);
    o.scale_a = word(w, extra(w, op, Extra::scale_a), l);
    o.scale_b = word(w, extra(w, op, Extra::scale_b), l);
    for (unsigned i = 0; i < op->count; ++i)
      o.lanes_left_out[i] = word(w, extra(w, op, Extra::first_mask + i), l);
    o.accumulates = accumulating >> l & 1;
    o.scale_d = static_cast<std::uint8_t>(op->detail);
    Issue issue(w, op, use, o);
    if (!issue.check(cost)) return false;
    report_tensor_multiply(w, op, l, o, issue.descriptor());
    work_of(w).issue(thread_of(w, l), o);
    return !w.block->grid->stop.load(std::memory_order_relaxed);
  });
  if (!checked) return nullptr;
  w.progressed = true;
  return w.spend(op + 1, cost);
}

// --- cp: Op::a: the address; Op::b: the matrix descriptor ---

const Op* run_copy(Warp& w, const Op* op) {
  const auto& use = use_of<TensorMemoryCopyUse>(op);
  if (!has_group(w, op, use.group)) return nullptr;
  const bool checked = each_lane(w.mask, [&](int l) {
    TensorOperation o;
    o.what = op, o.context = w.block;
    o.perform = perform_copy;
    o.a = w.at<std::uint64_t>(op->b)[l];
    o.d = w.at<std::uint32_t>(op->a)[l];
    if (const std::string why = matrix_descriptor_mistake(o.a, async::Major::k, 1); !why.empty()) {
      tensor_memory_fault(w, op, "its matrix descriptor is wrong: " + why);
      return false;
    }
    const TensorAddress to(o.d);
    if (to.lane != 0) {
      tensor_memory_fault(w, op, fmt::format("its address has lane {}; it must be 0", to.lane),
                          "invalid_datapath_alignment");
      return false;
    }
    const BlockOperand from{async::block_matrix_descriptor(o.a), async::Major::k, use.rows,
                            use.chunks};
    for (std::uint32_t i = 0; i < use.group; ++i) {
      Block& block = i == 0 ? *w.block : peer_of(*w.block);
      if (!has_columns(w, op, block, to, use.chunks * 4u, "it")) return false;
      if (from.end() <= block.shared_end) continue;
      w.fault(op, FaultKind::illegal_address, 1u << l,
              fmt::format("its source covers shared memory from offset 0x{:x} to 0x{:x}, by its "
                          "descriptor, but the block's ends at 0x{:x}",
                          from.descriptor.start, from.end(), block.shared_end));
      return false;
    }
    report_tensor_copy(w, op, l, o, from);
    work_of(w).issue(thread_of(w, l), o);
    return true;
  });
  if (!checked) return nullptr;
  w.progressed = true;
  return w.spend(op + 1, use.rows);
}

// --- commit: Op::a and imm: the mbarrier; Op::b: the mask of blocks; Op::detail: .cta_group ---

const Op* run_commit(Warp& w, const Op* op) {
  if (!has_group(w, op, op->detail)) return nullptr;
  LaneMbarriers m;
  if (const BadLanes bad = resolve_mbarriers(w, op, false, m); bad.lanes)
    return bad_access(w, op, bad.lanes, m.addresses, async::mbarrier::size, true,
                      op->what->memory.front().space, bad.kind);
  auto& blocks = w.block->cluster->blocks;
  const bool done = each_lane(w.mask, [&](int l) {
    const auto to = [&](Block& block) {
      async::TensorCommit c;
      c.tag = w.number(op);
      c.thread = thread_of(w, l);
      c.rank = block.rank, c.offset = m.offsets[l];
      c.mbarrier = reinterpret_cast<async::mbarrier::Word*>(block.shared + c.offset);
      work_of(w).commit(c);
      // Wakes threads that already wait: they perform what is pending.
      wake_mbarrier(block, c.offset);
    };
    if (op->b == no_ref) {
      to(*m.blocks[l]);
      return true;
    }
    for (std::uint32_t mask = w.at<std::uint16_t>(op->b)[l], rank = 0; mask; mask >>= 1, ++rank) {
      if (!(mask & 1)) continue;
      if (rank >= blocks.size() || blocks[rank]->left) {
        tensor_memory_fault(w, op,
                            fmt::format("its mask of blocks has bit {}, but the cluster has no "
                                        "block of that rank that still runs",
                                        rank));
        return false;
      }
      to(*blocks[rank]);
    }
    return true;
  });
  if (!done) return nullptr;
  w.progressed = true;
  return op + 1;
}

// --- decoding ---

constexpr ModSet groups{Mod::cta_group_1, Mod::cta_group_2};
constexpr ModSet collectors{
    Mod::collector_a_discard,  Mod::collector_a_fill,     Mod::collector_a_lastuse,
    Mod::collector_a_use,      Mod::collector_b0_discard, Mod::collector_b0_fill,
    Mod::collector_b0_lastuse, Mod::collector_b0_use,     Mod::collector_b1_discard,
    Mod::collector_b1_fill,    Mod::collector_b1_lastuse, Mod::collector_b1_use,
    Mod::collector_b2_discard, Mod::collector_b2_fill,    Mod::collector_b2_lastuse,
    Mod::collector_b2_use,     Mod::collector_b3_discard, Mod::collector_b3_fill,
    Mod::collector_b3_lastuse, Mod::collector_b3_use};
constexpr ModSet kinds{Mod::kind_f16,      Mod::kind_tf32,    Mod::kind_f8f6f4,   Mod::kind_i8,
                       Mod::kind_mxf8f6f4, Mod::kind_mxf4,    Mod::kind_mxf4nvf4, Mod::block_scale,
                       Mod::scale_vec_1X,  Mod::scale_vec_2X, Mod::scale_vec_4X,  Mod::block16,
                       Mod::block32};

bool well_formed(Lowering& lo, const BlockMultiplyUse& use) {
  using Kind = BlockMultiplyUse::Kind;
  const ModSet& mods = lo.in.mods;
  if (mods.has(Mod::block_scale) != use.scaled())
    return lo.refuse(".block_scale is for the kinds mxf8f6f4, mxf4 and mxf4nvf4, which need it");
  if (use.weight_stationary && (use.scaled() || use.group == 2))
    return lo.refuse("tcgen05.mma.ws has no .block_scale and no .cta_group::2");
  if (use.sparse && use.scaled())
    return lo.refuse("block scales of sparse products are not supported");
  if (use.zero_columns) return lo.refuse("a zero-column mask is not supported");
  const ModSet block_sizes{Mod::scale_vec_2X, Mod::scale_vec_4X, Mod::block16, Mod::block32};
  if (use.kind == Kind::mxf4nvf4 && mods.without(block_sizes) == mods)
    return lo.refuse(".kind::mxf4nvf4 needs the size of its blocks");
  const bool four = mods.has(Mod::scale_vec_4X) || mods.has(Mod::block16);
  if (use.scaled() && four && use.kind != Kind::mxf4nvf4)
    return lo.refuse("only .kind::mxf4nvf4 has four scales a row");
  if (use.scale_d && use.kind != Kind::f16 && use.kind != Kind::tf32)
    return lo.refuse("scale-input-d is for the kinds f16 and tf32");
  const std::size_t count =
      std::max({use.accumulates, use.scale_d, use.zero_columns}) + std::size_t{1};
  if (lo.operands.size() != count) return lo.refuse("it has the wrong number of operands");
  if (use.mask && (use.scaled() || lo.operands[use.mask].count != (use.group == 2 ? 8 : 4)))
    return lo.refuse("its mask of lanes has the wrong number of registers");
  return true;
}

bool lower_multiply(Lowering& lo, const Row&) {
  if (!has_tensor_memory(lo)) return false;
  if (lo.in.mods.has(Mod::ashift)) return lo.refuse(".ashift is not supported");
  const auto& use = *lo.what.as<BlockMultiplyUse>();
  if (!only(lo, groups | collectors | kinds) || !well_formed(lo, use)) return false;
  const auto& o = lo.operands;
  bool bound = true;
  const auto got = [&](Ref ref) {
    bound &= ref != no_ref;
    return ref;
  };
  const auto address = [&](std::uint8_t at) { return got(lo.address_lanes(o[at], Space::shared)); };
  std::vector<Ref> refs(Extra::first_mask + Extra::most_masks, no_ref);
  Op made;
  made.d = address(0);
  made.a = use.a_in_tensor_memory ? address(1) : got(lo.source(o[1], Type::b64));
  made.b = got(lo.source(o[2], Type::b64));
  refs[Extra::descriptor] = got(lo.source(o[use.descriptor], Type::b32));
  if (use.sparse) refs[Extra::metadata] = address(use.metadata);
  if (use.scaled()) {
    refs[Extra::scale_a] = address(use.scale_a);
    refs[Extra::scale_b] = address(use.scale_b);
  }
  unsigned masks = 0;
  if (use.mask)
    for (; masks < o[use.mask].count; ++masks)
      refs[Extra::first_mask + masks] =
          got(lo.source(lo.function.pool[o[use.mask].index + masks], Type::b32));
  if (!bound) return false;
  made.c = lo.predicate(o[use.accumulates], made.flags, Op::negate_c);
  std::int64_t scale = 0;
  if (use.scale_d) {
    if (!lo.is_constant(o[use.scale_d])) return lo.refuse("scale-input-d must be a constant");
    scale = lo.constant(o[use.scale_d]);
    if (scale < 0 || scale > 15) return lo.refuse("scale-input-d must be from 0 to 15");
  }
  const std::uint32_t extra = lo.extra(refs);
  Op& op = lo.emit(run_multiply);
  op.a = made.a, op.b = made.b, op.c = made.c, op.d = made.d;
  op.flags |= made.flags;
  op.extra = extra;
  op.count = static_cast<std::uint8_t>(masks);
  op.detail = static_cast<std::uint16_t>(scale);
  return true;
}

bool lower_copy(Lowering& lo, const Row&) {
  const ModSet known{Mod::_128x256b, Mod::_4x256b,      Mod::_128x128b,    Mod::_64x128b,
                     Mod::_32x128b,  Mod::warpx2_02_13, Mod::warpx2_01_23, Mod::warpx4,
                     Mod::b8x16,     Mod::b6x16_p32,    Mod::b4x16_p64};
  if (!has_tensor_memory(lo) || !only(lo, groups | known)) return false;
  const ModSet& mods = lo.in.mods;
  const bool x2 = mods.has(Mod::warpx2_02_13) || mods.has(Mod::warpx2_01_23);
  if (x2 != mods.has(Mod::_64x128b) || mods.has(Mod::warpx4) != mods.has(Mod::_32x128b))
    return lo.refuse(
        ".64x128b needs .warpx2 and .32x128b needs .warpx4, and no other shape has them");
  const bool packed = mods.has(Mod::b6x16_p32) || mods.has(Mod::b4x16_p64);
  if (packed != mods.has(Mod::b8x16)) return lo.refuse("its formats are of no conversion");
  if (lo.operands.size() != 2) return lo.refuse("it takes an address and a matrix descriptor");
  const Ref to = lo.address_lanes(lo.operands[0], Space::shared);
  const Ref from = lo.source(lo.operands[1], Type::b64);
  if (to == no_ref || from == no_ref) return false;
  Op& op = lo.emit(run_copy);
  op.a = to, op.b = from;
  return true;
}

bool lower_commit(Lowering& lo, const Row&) {
  if (!has_tensor_memory(lo) ||
      !only(lo, groups | ModSet{Mod::mbarrier_arrive_one, Mod::multicast_cluster}))
    return false;
  const bool multicast = lo.in.mods.has(Mod::multicast_cluster);
  if (lo.operands.size() != (multicast ? 2u : 1u))
    return lo.refuse("it takes an mbarrier, and a mask of blocks with .multicast::cluster");
  if (lo.what.memory.empty()) return lo.refuse("an address in brackets is needed");
  const Space space = lo.what.memory.front().space;
  if (space != Space::generic && space != Space::shared && space != Space::shared_cluster)
    return lo.refuse("mbarriers are in shared memory");
  Ref mask = no_ref;
  if (multicast && (mask = lo.source(lo.operands[1], Type::b16)) == no_ref) return false;
  Op& op = lo.emit(run_commit);
  op.b = mask;
  op.detail = lo.in.mods.has(Mod::cta_group_2) ? 2 : 1;
  return lo.address(lo.operands[0], op);
}

bool lower_shift(Lowering& lo, const Row&) {
  return has_tensor_memory(lo) && lo.refuse("tcgen05.shift is not supported");
}

}  // namespace

void tcgen05_multiply_rows(Rows& rows) {
  add(rows, any_form(Opcode::tcgen05_mma, lower_multiply));
  add(rows, any_form(Opcode::tcgen05_mma_sp, lower_multiply));
  add(rows, any_form(Opcode::tcgen05_mma_ws, lower_multiply));
  add(rows, any_form(Opcode::tcgen05_mma_ws_sp, lower_multiply));
  add(rows, any_form(Opcode::tcgen05_cp, lower_copy));
  add(rows, any_form(Opcode::tcgen05_commit, lower_commit));
  add(rows, any_form(Opcode::tcgen05_shift, lower_shift));
}

}  // namespace inflight::machine
