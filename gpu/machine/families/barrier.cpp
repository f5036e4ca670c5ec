// bar, barrier and bar.warp.sync (PTX ISA, "Parallel Synchronization and Communication").
//
// Threads arrive one by one, as since sm_70, even with .aligned. A count is in whole warps: missing
// lanes of a warp (in the last warp of a block, or exited threads) arrive with its lowest living
// lane. A count of the whole block may be mixed with no count, but is still a count: threads that
// arrive and then exit are not waited for twice.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "gpu/machine/families/collectives.hpp"
#include "gpu/machine/families/families.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/block_barriers.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Type;
using Step = BarrierUse::Step;

constexpr std::uint32_t barrier_ids = 16;

struct Names {
  std::uint32_t id = 0, expected = 0;  // the barrier; its threads, 0: all living ones
  std::uint32_t given = 0;             // the count that the lane names, 0: none
  bool operator==(const Names& other) const { return id == other.id && expected == other.expected; }
};

std::uint32_t whole_warps(std::uint32_t threads) {
  return std::min(threads, UINT32_MAX - lanes) / lanes * lanes + (threads % lanes ? lanes : 0);
}

Names names(const Warp& w, const Op* op, int lane) {
  Names n{w.at<std::uint32_t>(op->a)[lane]};
  if (op->b == no_ref) return n;
  n.given = w.at<std::uint32_t>(op->b)[lane];
  const std::uint32_t count = whole_warps(n.given);
  n.expected = count == whole_warps(w.block->threads) ? w.block->threads : count;
  return n;
}

bool whole_block(const Warp& w, std::uint32_t expected) {
  return expected == 0 || expected == w.block->threads;
}

// The number of threads that arrive with the active lanes.
std::uint32_t arrivals(const Warp& w, const Names& n) {
  const std::uint32_t active = lane_count(w.mask);
  const bool lowest = (w.mask >> std::countr_zero(w.alive)) & 1;
  if (whole_block(w, n.expected) || !lowest) return active;
  return active + lanes - static_cast<std::uint32_t>(std::popcount(w.alive));
}

void reduce(const Warp& w, const Op* op, NamedBarrier& b) {
  const std::uint32_t set = w.predicate(op->c, op->flags & Op::negate_c) & w.mask;
  b.reduced_popc += static_cast<std::uint32_t>(std::popcount(set));
  b.reduced_and &= set == w.mask;
  b.reduced_or |= set != 0;
  b.reduces = true;
}

[[gnu::noinline]] const Op* misused(Warp& w, const Op* op, const Names& n) {
  if (n.id >= barrier_ids)
    return w.fault(op, FaultKind::illegal_instruction, w.mask,
                   fmt::format("uses barrier {}; a block has barriers 0 to 15", n.id));
  const NamedBarrier& b = w.block->barriers[n.id];
  if (w.block->grid->observation)
    w.block->grid->observation->arrived(w, op, n.id, n.given, n.expected, b);
  return w.fault(op, FaultKind::illegal_instruction, w.mask,
                 fmt::format("arrives at barrier {} with count {}, but {} threads arrived with "
                             "count {} (0: the whole block)",
                             n.id, n.expected, b.arrived, b.expected));
}

const Op* arrive(Warp& w, const Op* op, const Names& n) {
  if (n.id >= barrier_ids) [[unlikely]]
    return misused(w, op, n);
  NamedBarrier& b = w.block->barriers[n.id];
  if (b.arrived != 0 && b.expected != n.expected) [[unlikely]] {
    if (!whole_block(w, b.expected) || !whole_block(w, n.expected)) return misused(w, op, n);
  }
  const bool waits = use_of<BarrierUse>(op).step != Step::arrive;
  b.expected = b.arrived == 0 ? n.expected : std::max(b.expected, n.expected);
  b.arrived += arrivals(w, n);
  if (op->c != no_ref) reduce(w, op, b);
  if (w.block->grid->observation) [[unlikely]]
    w.block->grid->observation->arrived(w, op, n.id, n.given, n.expected, b);
  w.progressed = true;
  if (b.arrived >= (b.expected ? b.expected : w.block->alive_threads)) {
    deliver_reduction(*w.frame, op, w.mask, b);
    w.block->try_complete(n.id, {w, w.mask, op});
    w.phases = w.block->turns.phases_in_step();
    return w.jump(op + 1);
  }
  return waits ? w.park(op, Wait::barrier, n.id) : op + 1;
}

const Op* run_barrier(Warp& w, const Op* op) {
  const int first = std::countr_zero(w.mask);
  const Names n = names(w, op, first);
  std::uint32_t others = 0;
  for (int l = first + 1; l < lanes; ++l)
    if ((w.mask >> l) & 1 && names(w, op, l) != n) others |= 1u << l;
  if (others) w.split_off(others, op);
  return arrive(w, op, n);
}

// Both operands are constants, so all lanes name the same barrier.
const Op* run_barrier_uniform(Warp& w, const Op* op) { return arrive(w, op, names(w, op, 0)); }

// Out of line, so that the common path saves no registers.
[[gnu::noinline]] const Op* arrive_otherwise(Warp& w, const Op* op) {
  return arrive(w, op, {op->extra, 0});
}

// The common case: bar.sync of all living threads at the constant barrier Op::extra. Threads that
// are not the last to arrive are only counted, unless others gave a count.
const Op* run_barrier_sync(Warp& w, const Op* op) {
  NamedBarrier& b = w.block->barriers[op->extra];
  const std::uint32_t threads = lane_count(w.mask);
  if (b.expected != 0 || b.arrived + threads >= w.block->alive_threads)
    return arrive_otherwise(w, op);
  b.arrived += threads;
  w.progressed = true;
  return w.park(op, Wait::barrier, op->extra);
}

// --- bar.warp.sync: lanes may arrive at different instructions --------------------------------

bool waits_here(const Split& s) {
  if (s.wait != Wait::collective) return false;
  const auto* use = s.pc->what->as<BarrierUse>();
  return use && use->of == BarrierUse::Of::warp;
}

// The lanes of a waiting split whose member mask is `members`.
std::uint32_t lanes_with(const Warp& w, const Split& s, std::uint32_t members) {
  return s.mask & lanes_equal(values_of(w, s, s.pc->a), members);
}

std::uint32_t waiting(const Warp& w, std::uint32_t members) {
  std::uint32_t present = 0;
  for (const Split& s : w.parked)
    if (waits_here(s)) present |= lanes_with(w, s, members);
  return present;
}

void release(Warp& w, std::uint32_t members) {
  const std::size_t count = w.parked.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!waits_here(w.parked[i])) continue;
    const std::uint32_t go = lanes_with(w, w.parked[i], members);
    if (go == 0) continue;
    Split freed = w.parked[i];
    freed.mask = go, freed.wait = Wait::nothing, ++freed.pc;
    if (w.parked[i].mask &= ~go)
      w.parked.push_back(freed);
    else
      w.parked[i] = freed;
  }
}

const Op* run_warp_sync(Warp& w, const Op* op) {
  const auto* masks = w.at<std::uint32_t>(op->a);
  std::uint32_t ready = 0, first_missing = 0;
  for (std::uint32_t rest = w.mask; rest != 0;) {
    const std::uint32_t members = masks[std::countr_zero(rest)];
    const std::uint32_t group = rest & lanes_equal(masks, members);
    rest &= ~group;
    if (const std::uint32_t non_members = group & ~members; non_members && group != w.mask)
      return not_a_member(w, op, non_members, members);
    const std::uint32_t present = group | waiting(w, members);
    if ((members & w.alive & ~present) == 0) {
      if (w.block->grid->observation) [[unlikely]]
        w.block->grid->observation->met(w, op, present, members);
      release(w, members);
      ready |= group;
    } else {
      first_missing = members;
    }
  }
  if (ready == 0) return w.park(op, Wait::collective, first_missing);
  if (ready != w.mask) keep_waiting(w, op, w.mask & ~ready, first_missing);
  w.progressed = true;
  return w.jump(op + 1);
}

bool lower_warp_sync(Lowering& lo) {
  const Ref mask = lo.source(lo.operands[0], Type::u32);
  if (mask == no_ref) return false;
  lo.emit(run_warp_sync).a = mask;
  return true;
}

// --- decoding ---------------------------------------------------------------------------------

// Whether these are the modifiers of a barrier.
bool known(const ptx::ModSet& mods) {
  static const ptx::ModSet forms[] = {{Mod::sync},
                                      {Mod::arrive},
                                      {Mod::red, Mod::popc},
                                      {Mod::red, Mod::and_},
                                      {Mod::red, Mod::or_}};
  return std::ranges::find(forms, mods.without({Mod::aligned, Mod::cta})) != std::end(forms);
}

bool lower_barrier(Lowering& lo, const Row&) {
  if (lo.in.mods.without({Mod::aligned}) == ptx::ModSet{Mod::warp, Mod::sync})
    return lower_warp_sync(lo);
  if (!known(lo.in.mods)) return lo.refuse("unknown barrier modifiers");
  const Step step = lo.what.as<BarrierUse>()->step;
  const bool reduces = step >= Step::red_popc;
  auto operands = lo.operands;
  Op made;
  if (reduces) {
    const bool counts = step == Step::red_popc;
    if (operands.size() < 3) return lo.refuse("a reduction needs a destination and a predicate");
    made.d =
        counts ? lo.destination(operands[0], Type::u32) : lo.predicate_destination(operands[0]);
    made.c = lo.predicate(operands.back(), made.flags, Op::negate_c);
    if (made.d == no_ref || made.c == no_ref) return false;
    if (counts && operands[0].kind == ptx::Operand::Kind::reg &&
        ptx::size_of(lo.register_type(operands[0])) != 4)
      return lo.refuse("the destination must be a register of 32 bits");
    operands = operands.subspan(1, operands.size() - 2);
  }
  if (operands.empty() || operands.size() > 2) return lo.refuse("takes a barrier and a count");
  if (step == Step::arrive && operands.size() != 2)
    return lo.refuse("an arrival needs a thread count");
  bool uniform = true;
  for (const auto& operand : operands) uniform &= lo.is_constant(operand);
  made.a = lo.source(operands[0], Type::u32);
  if (operands.size() == 2) made.b = lo.source(operands[1], Type::u32);
  if (made.a == no_ref || (operands.size() == 2 && made.b == no_ref)) return false;
  const bool plain =
      uniform && step == Step::sync && operands.size() == 1 && !lo.form().synchronised;
  const std::uint64_t id = plain ? static_cast<std::uint64_t>(lo.constant(operands[0])) : 0;
  Op& op = lo.emit(plain && id < barrier_ids ? run_barrier_sync
                   : uniform                 ? run_barrier_uniform
                                             : run_barrier);
  op.extra = static_cast<std::uint32_t>(id);
  op.d = made.d, op.a = made.a, op.b = made.b, op.c = made.c;
  op.flags |= made.flags;
  return true;
}

}  // namespace

void barrier_rows(Rows& rows) {
  for (Opcode opcode : {Opcode::bar, Opcode::barrier})
    add(rows, {.opcode = opcode, .types = {}, .mods = {}, .operands = {}, .lower = lower_barrier});
}

}  // namespace inflight::machine
