// tcgen05.alloc, dealloc, relinquish_alloc_permit, ld, st, wait and fence: a block's tensor memory,
// and moves between it and registers (PTX ISA, "TensorCore 5th Generation: Tensor Memory
// Allocation", "Tensor Memory and Register Load/Store").
//
// A ld or st moves its values at once. That is one of its legal times: a thread that reads a
// register waits for the ld that writes it.
#include <fmt/format.h>

#include <cstring>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/families/tcgen05.hpp"
#include "gpu/machine/families/tcgen05_events.hpp"
#include "gpu/machine/families/whole_warp.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/mbarriers.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/observe/tensor_memory_events.hpp"
#include "gpu/machine/run/warpgroup.hpp"

namespace inflight::machine {

bool has_tensor_memory(Lowering& lo) {
  const std::string why = tcgen05_target_mistake(lo.in, lo.module.target);
  return why.empty() || lo.refuse(why);
}

const Op* tensor_memory_fault(Warp& w, const Op* op, std::string why, std::string_view check) {
  if (!check.empty()) why += fmt::format(" ({})", check);
  FaultDetail about;
  about.tensor_check = check;
  return w.fault(op, FaultKind::illegal_instruction, w.mask, std::move(why), about);
}

Block& peer_of(const Block& block) { return *block.cluster->blocks[block.rank ^ 1]; }

bool has_group(Warp& w, const Op* op, std::uint32_t group) {
  TensorMemory& memory = tensor_memory(*w.block);
  if (group == 2 && (w.block->rank ^ 1) >= w.block->cluster->blocks.size()) {
    tensor_memory_fault(w, op,
                        "its .cta_group::2 needs a second block, whose rank in the cluster differs "
                        "in the last bit, but there is none");
    return false;
  }
  if (memory.group == 0) memory.group = static_cast<std::uint8_t>(group);
  if (memory.group == group) return true;
  tensor_memory_fault(w, op,
                      fmt::format("it has .cta_group::{}, but the tcgen05 instructions of a kernel "
                                  "must all have one .cta_group, and this block has executed one "
                                  "with .cta_group::{}",
                                  group, memory.group));
  return false;
}

bool has_columns(Warp& w, const Op* op, Block& block, TensorAddress at, std::uint32_t count,
                 std::string_view what) {
  const std::uint32_t last = at.column + count - 1;
  if (at.lane >= TensorMemory::lanes || last >= TensorMemory::columns) {
    tensor_memory_fault(w, op,
                        fmt::format("{} would reach from lane {} and columns {} to {}, but tensor "
                                    "memory has 128 lanes and 512 columns",
                                    what, at.lane, at.column, last),
                        "access_out_of_physical_bounds");
    return false;
  }
  if (tensor_memory(block).holds(at.column, count)) return true;
  report_unallocated(w, op, block, at.column, count);
  tensor_memory_fault(
      w, op,
      fmt::format("{} uses the columns {} to {} of tensor memory, of which some are "
                  "not allocated",
                  what, at.column, last),
      "unallocated_columns_access");
  return false;
}

namespace {

using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Shape = TensorMemoryUse::Shape;
using What = check::TensorStep::What;

// Sets `value` to the operand's value. False, after a fault, if the lanes have different ones.
bool one_value(Warp& w, const Op* op, Ref ref, std::uint32_t& value, std::string_view what) {
  const auto* const values = w.at<std::uint32_t>(ref);
  value = values[std::countr_zero(w.mask)];
  if (are_equal(w.mask, values)) return true;
  tensor_memory_fault(w, op, fmt::format("the lanes of the warp give different {}", what));
  return false;
}

// --- allocation: Op::a: the place for the address, or the columns' address; Op::b: their number;
// Op::detail: .cta_group ---

bool is_size(Warp& w, const Op* op, std::uint32_t count) {
  if (TensorMemory::is_size(count)) return true;
  tensor_memory_fault(w, op,
                      fmt::format("it names {} columns, but their number must be a power of two "
                                  "from 32 to 512",
                                  count),
                      "allocation_granularity_invalid");
  return false;
}

const Op* wait_for_columns(Warp& w, const Op* op, std::uint32_t count) {
  return w.park(op, Wait::columns, count);
}

// Allocates in both blocks of a pair once both have asked. False, after a fault, if they ask for
// different numbers. `first` stays empty while the warp must wait.
bool allocate_in_pair(Warp& w, const Op* op, std::uint32_t count,
                      std::optional<std::uint32_t>& first) {
  Block& peer = peer_of(*w.block);
  TensorMemory &own = tensor_memory(*w.block), &other = tensor_memory(peer);
  if (own.granted) {
    first = own.granted;
    own.granted.reset();
    return true;
  }
  own.wanted = count;
  if (other.wanted == 0) return true;
  if (other.wanted != count) {
    tensor_memory_fault(w, op,
                        fmt::format("it asks for {} columns, but the other block of the pair asks "
                                    "for {}",
                                    count, other.wanted));
    return false;
  }
  first = own.find(count, &other);
  if (!first) return true;
  own.take(*first, count), other.take(*first, count);
  own.wanted = other.wanted = 0;
  other.granted = first;
  wake_for_columns(peer);
  return true;
}

const Op* run_alloc(Warp& w, const Op* op) {
  std::uint32_t count = 0;
  if (!has_group(w, op, op->detail) || !one_value(w, op, op->b, count, "numbers of columns") ||
      !is_size(w, op, count))
    return nullptr;
  TensorMemory& memory = tensor_memory(*w.block);
  if (!memory.may_allocate)
    return tensor_memory_fault(w, op,
                               "the block has given up the right to allocate tensor memory "
                               "(tcgen05.relinquish_alloc_permit)",
                               "phase_invalid_during_alloc");
  std::optional<std::uint32_t> first;
  if (op->detail == 2) {
    if (!allocate_in_pair(w, op, count, first)) return nullptr;
  } else if ((first = memory.find(count))) {
    memory.take(*first, count);
  }
  if (!first) return wait_for_columns(w, op, count);
  if (const Observation* const observation = w.block->grid->observation)
    observation->wait_ended(w, {op, w.frame, w.mask, Wait::columns, count});
  report_tensor_allocation(w, op, check::TensorAllocation::Step::allocated, op->detail, *first,
                           count);
  const Space space = op->what->memory.front().space;
  const std::uint32_t one = w.mask & -w.mask;
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, space, addresses);
  LanePlaces places;
  BadLanes bad = resolve_lanes(w, op, one, space, addresses, sizeof *first, true, places);
  if (!bad.lanes) bad = {one & ~places.shared, FaultKind::invalid_address_space};
  if (bad.lanes)
    return bad_access(w, op, bad.lanes, addresses, sizeof *first, true, space, bad.kind);
  std::memcpy(places.at[std::countr_zero(one)], &*first, sizeof *first);
  w.progressed = true;
  return op + 1;
}

const Op* run_dealloc(Warp& w, const Op* op) {
  using Release = TensorMemory::Release;
  std::uint32_t bits = 0, count = 0;
  if (!has_group(w, op, op->detail) || !one_value(w, op, op->a, bits, "addresses") ||
      !one_value(w, op, op->b, count, "numbers of columns") || !is_size(w, op, count))
    return nullptr;
  const std::uint32_t first = TensorAddress(bits).column;
  const auto columns = [&] {
    return fmt::format("the columns {} to {}", first, first + count - 1);
  };
  switch (tensor_memory(*w.block).give_back(first, count)) {
    case Release::unallocated:
      return tensor_memory_fault(
          w, op,
          fmt::format("it frees {} of tensor memory, of which some are not allocated", columns()),
          "unallocated_columns_being_dealloced");
    case Release::another_allocation:
      return tensor_memory_fault(
          w, op,
          fmt::format("it frees {} of tensor memory, which are not what one tcgen05.alloc has "
                      "returned",
                      columns()),
          "col_being_dealloced_not_returned_by_alloc");
    case Release::done:
      break;
  }
  report_tensor_allocation(w, op, check::TensorAllocation::Step::freed, op->detail, first, count);
  wake_for_columns(*w.block);
  if (op->detail == 2) wake_for_columns(peer_of(*w.block));
  w.progressed = true;
  return op + 1;
}

const Op* run_relinquish(Warp& w, const Op* op) {
  if (!has_group(w, op, op->detail)) return nullptr;
  tensor_memory(*w.block).may_allocate = false;
  report_tensor_allocation(w, op, check::TensorAllocation::Step::relinquished, op->detail);
  return op + 1;
}

// --- ld and st: Op::a: the address; Op::extra: `detail` registers; Op::imm: the distance of the
// second columns of .16x32bx2 ---

// The lane and column at which the warp's access begins; false after a fault.
bool begin_of(Warp& w, const Op* op, const TensorMemoryUse& use, std::uint32_t& lane,
              std::uint32_t& column) {
  std::uint32_t bits = 0;
  if (!one_value(w, op, op->a, bits, "addresses")) return false;
  const TensorAddress at(bits);
  const bool split = use.shape == Shape::l16x32bx2;
  if (!has_columns(w, op, *w.block, at, use.columns(), "it")) return false;
  if (split &&
      !has_columns(w, op, *w.block, TensorAddress(bits + static_cast<std::uint32_t>(op->imm)),
                   use.columns(), "its second half"))
    return false;
  const std::uint32_t alignment = use.shape == Shape::l32x32b ? 32 : 16;
  if (at.lane % alignment) {
    tensor_memory_fault(w, op,
                        fmt::format("its address has lane {}, but with this shape it must be a "
                                    "multiple of {}",
                                    at.lane, alignment),
                        "invalid_datapath_alignment");
    return false;
  }
  const std::uint32_t own = w.index % 4 * TensorMemory::lanes_a_warp;
  const std::uint32_t named = at.lane / TensorMemory::lanes_a_warp * TensorMemory::lanes_a_warp;
  if (named != own) {
    const std::string why = fmt::format(
        "its address has lane {}, but warp {} of the block may access the lanes {} to {} only "
        "(current_warp_owner_invalid)",
        at.lane, w.index, own, own + TensorMemory::lanes_a_warp - 1);
    if (named != 0) {
      tensor_memory_fault(w, op, why);
      return false;
    }
    // A chip takes the warp's own lanes where the address leaves them out.
    report_misuse(w, op, why);
  }
  lane = own + at.lane % TensorMemory::lanes_a_warp;
  column = at.column;
  return true;
}

std::uint32_t* register_of(Warp& w, const Op* op, unsigned i) {
  return w.at<std::uint32_t>(w.frame->code->extra[op->extra + i]);
}

// Calls f(register, its word of 32 bits, its column, its lane) for each lane of each register.
template <class F>
void each_word(Warp& w, const Op* op, const TensorMemoryUse& use, std::uint32_t lane,
               std::uint32_t column, F f) {
  const bool split = use.shape == Shape::l16x32bx2;
  const auto second = static_cast<std::uint32_t>(op->imm);
  for (unsigned r = 0; r < op->detail; ++r) {
    std::uint32_t* const words = register_of(w, op, r);
    each_lane(w.mask, [&](int l) {
      const auto place = use.place(static_cast<unsigned>(l), r);
      f(words[l], column + (split && l >= 16 ? second : 0) + place.column * (use.packs ? 2 : 1),
        lane + place.lane);
    });
  }
}

bool is_simple(const Warp& w, const TensorMemoryUse& use) {
  return use.shape == Shape::l32x32b && !use.packs && w.mask == all_lanes;
}

const Op* run_load(Warp& w, const Op* op) {
  const auto& use = use_of<TensorMemoryUse>(op);
  std::uint32_t lane = 0, column = 0;
  if (!begin_of(w, op, use, lane, column)) return nullptr;
  report_tensor_access(w, op, use, lane, column, false);
  TensorMemory& memory = tensor_memory(*w.block);
  if (is_simple(w, use)) {
    for (unsigned r = 0; r < op->detail; ++r)
      std::memcpy(register_of(w, op, r), memory.column(column + r) + lane, lanes * 4);
  } else {
    each_word(w, op, use, lane, column, [&](std::uint32_t& word, std::uint32_t c, std::uint32_t l) {
      word = use.packs ? (memory.column(c)[l] & 0xffff) | memory.column(c + 1)[l] << 16
                       : memory.column(c)[l];
    });
  }
  return w.spend(op + 1, op->detail);
}

const Op* run_store(Warp& w, const Op* op) {
  const auto& use = use_of<TensorMemoryUse>(op);
  std::uint32_t lane = 0, column = 0;
  if (!begin_of(w, op, use, lane, column)) return nullptr;
  report_tensor_access(w, op, use, lane, column, true);
  TensorMemory& memory = tensor_memory(*w.block);
  if (is_simple(w, use)) {
    for (unsigned r = 0; r < op->detail; ++r)
      std::memcpy(memory.column(column + r) + lane, register_of(w, op, r), lanes * 4);
  } else {
    each_word(w, op, use, lane, column,
              [&](const std::uint32_t& word, std::uint32_t c, std::uint32_t l) {
                if (!use.packs) {
                  memory.column(c)[l] = word;
                  return;
                }
                std::uint32_t &low = memory.column(c)[l], &high = memory.column(c + 1)[l];
                low = (low & 0xffff0000) | (word & 0xffff);
                high = (high & 0xffff0000) | word >> 16;
              });
  }
  w.progressed = true;
  return w.spend(op + 1, op->detail);
}

// A wait or a fence, of which only listeners are told.
template <check::TensorStep::What what>
const Op* run_step(Warp& w, const Op* op) {
  report_tensor_step(w, op, what);
  return op + 1;
}

// --- decoding ---

constexpr ModSet groups{Mod::cta_group_1, Mod::cta_group_2};
constexpr ModSet whole{Mod::sync, Mod::aligned};

bool only_here(Lowering& lo, const ModSet& known) {
  return has_tensor_memory(lo) && only(lo, known);
}

bool lower_allocation(Lowering& lo, const Row&) {
  if (!only_here(lo, groups | whole)) return false;
  const bool allocates = lo.in.opcode == Opcode::tcgen05_alloc;
  if (lo.operands.size() != 2) return lo.refuse("it takes an address and a number of columns");
  if (allocates) {
    const Space space = lo.what.memory.empty() ? Space::global : lo.what.memory.front().space;
    if (space != Space::generic && space != Space::shared)
      return lo.refuse("it writes the address to the block's shared memory");
  }
  const Ref count = lo.source(lo.operands[1], Type::b32);
  const Ref address = allocates ? no_ref : lo.source(lo.operands[0], Type::b32);
  if (count == no_ref || (!allocates && address == no_ref)) return false;
  Op& op = lo.emit(allocates ? run_whole_warp<run_alloc> : run_whole_warp<run_dealloc>);
  op.a = address, op.b = count;
  op.detail = lo.in.mods.has(Mod::cta_group_2) ? 2 : 1;
  return !allocates || lo.address(lo.operands[0], op);
}

bool lower_relinquish(Lowering& lo, const Row&) {
  if (!only_here(lo, groups | whole)) return false;
  Op& op = lo.emit(run_whole_warp<run_relinquish>);
  op.detail = lo.in.mods.has(Mod::cta_group_2) ? 2 : 1;
  return true;
}

bool lower_wait(Lowering& lo, const Row&) {
  if (!only_here(lo, whole | ModSet{Mod::ld, Mod::st})) return false;
  if (lo.in.mods.has(Mod::ld) == lo.in.mods.has(Mod::st))
    return lo.refuse("it waits for ::ld or for ::st");
  lo.emit(lo.in.mods.has(Mod::ld) ? run_whole_warp<run_step<What::waited_loads>>
                                  : run_whole_warp<run_step<What::waited_stores>>);
  return true;
}

bool lower_fence(Lowering& lo, const Row&) {
  const ModSet kinds{Mod::before_thread_sync, Mod::after_thread_sync};
  if (!only_here(lo, kinds)) return false;
  lo.emit(lo.in.mods.has(Mod::before_thread_sync) ? run_step<What::fenced_before>
                                                  : run_step<What::fenced_after>);
  return true;
}

bool lower_access(Lowering& lo, const Row&) {
  const ModSet known{Mod::_32x32b, Mod::_16x64b, Mod::_16x128b, Mod::_16x256b, Mod::_16x32bx2,
                     Mod::x1,      Mod::x2,      Mod::x4,       Mod::x8,       Mod::x16,
                     Mod::x32,     Mod::x64,     Mod::x128};
  const bool loads = lo.in.opcode == Opcode::tcgen05_ld;
  if (!only_here(lo, known | whole | ModSet{loads ? Mod::pack_16b : Mod::unpack_16b})) return false;
  const auto& use = *lo.what.as<TensorMemoryUse>();
  const bool split = use.shape == Shape::l16x32bx2;
  if (use.registers() > 128) return lo.refuse("it would need more than 128 registers");
  if (lo.operands.size() != (split ? 3u : 2u) ||
      (split && !lo.is_constant(lo.operands[loads ? 2 : 1])))
    return lo.refuse(split ? "it takes registers, an address and a constant distance of columns"
                           : "it takes registers and an address");
  const Operand& vector = lo.operands[loads ? 0 : split ? 2 : 1];
  const Operand& address = lo.operands[loads ? 1 : 0];
  const bool single = vector.kind != Operand::Kind::vector;
  const Operand* const first = single ? &vector : lo.function.pool.data() + vector.index;
  if ((single ? 1u : vector.count) != use.registers())
    return lo.refuse(fmt::format("with this shape it takes {} registers", use.registers()));
  const Ref at = lo.address_lanes(address, Space::shared);
  if (at == no_ref) return false;
  std::vector<Ref> registers;
  for (unsigned i = 0; i < use.registers(); ++i) {
    registers.push_back(loads ? lo.destination(first[i], Type::b32)
                              : lo.source(first[i], Type::b32));
    if (registers.back() == no_ref) return false;
  }
  const std::uint32_t extra = lo.extra(registers);
  Op& op = lo.emit(loads ? run_whole_warp<run_load> : run_whole_warp<run_store>);
  op.a = at;
  op.extra = extra;
  op.detail = static_cast<std::uint16_t>(registers.size());
  if (split) op.imm = lo.constant(lo.operands[loads ? 2 : 1]);
  return true;
}

bool lower_reduction(Lowering& lo, const Row&) {
  return has_tensor_memory(lo) && lo.refuse("tcgen05.ld.red is not supported");
}

}  // namespace

void tcgen05_memory_rows(Rows& rows) {
  add(rows, any_form(Opcode::tcgen05_alloc, lower_allocation));
  add(rows, any_form(Opcode::tcgen05_dealloc, lower_allocation));
  add(rows, any_form(Opcode::tcgen05_relinquish_alloc_permit, lower_relinquish));
  add(rows, any_form(Opcode::tcgen05_wait, lower_wait));
  add(rows, any_form(Opcode::tcgen05_fence, lower_fence));
  add(rows, any_form(Opcode::tcgen05_ld, lower_access));
  add(rows, any_form(Opcode::tcgen05_st, lower_access));
  add(rows, any_form(Opcode::tcgen05_ld_red, lower_reduction));
}

}  // namespace inflight::machine
