// Events of multiplications and of accesses to their registers.
#include "gpu/machine/run/observe/warpgroup_events.hpp"

#include <algorithm>

#include "gpu/machine/instruction/wgmma.hpp"
#include "gpu/machine/memory/memory.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/observe/events.hpp"

namespace inflight::machine {
namespace {

const Observation& observation(const Warp& w) { return *w.block->grid->observation; }

HeldRegisters* held_by(Warp& w) {
  Warpgroup* const group = warpgroup_of(w);
  return group ? &group->held[rank_in_group(w)] : nullptr;
}

void report_use(Warp& w, const Op* op, std::uint32_t reg, const HeldRegisters::Hold* hold,
                bool accumulator, bool written) {
  if (!hold) return;
  check::RegisterTouched event;
  event.who = observation(w).who(w, w.mask, op);
  event.name = w.frame->code->function->registers[reg].name;
  event.accumulator = accumulator;
  event.written = written;
  event.multiply = hold->end - 1;
  event.issued_at = hold->instruction;
  observation(w).listener().register_touched(event);
}

// Compilers do not move loads from shared memory over a fence.
bool stays_in_place(const Instruction& in) {
  using ptx::Space;
  if (in.memory.empty() || in.memory.front().role != MemoryOperand::Role::load) return false;
  if (in.as<MatrixUse>()) return true;
  const Space space = in.memory.front().space;
  return space == Space::shared || space == Space::shared_cta || space == Space::shared_cluster;
}

}  // namespace

HeldRegisters::Register& HeldRegisters::at(async::RegisterPlace place) {
  constexpr std::uint32_t step = 64;  // places are multiples of it
  const std::size_t index = place / step;
  if (index >= registers_.size()) registers_.resize(std::max(index + 1, 2 * registers_.size()));
  return registers_[index];
}

void HeldRegisters::issued(std::uint64_t id, std::uint32_t instruction, std::uint32_t shape,
                           std::span<const async::RegisterPlace> accumulators,
                           std::span<const async::RegisterPlace> fragments) {
  for (const async::RegisterPlace place : accumulators)
    at(place).writer = {id + 1, instruction, shape};
  for (const async::RegisterPlace place : fragments)
    at(place).reader = {id + 1, instruction, shape};
  fresh_fence_ = false, issued_any_ = true;
}

bool observes_multiplies(const Warp& w) {
  const Observation* const o = w.block->grid->observation;
  return o && o->wants(check::Topic::multiplies);
}

void report_multiply_fence(Warp& w) {
  if (HeldRegisters* const held = held_by(w)) held->fenced();
}

void report_multiply_commit(Warp& w, const Op* op) {
  observation(w).listener().multiply_committed({observation(w).who(w, w.mask, op)});
}

void report_multiply_wait(Warp& w, const Op* op, std::uint32_t allowed, std::uint64_t complete) {
  if (HeldRegisters* const held = held_by(w)) held->waited(complete);
  observation(w).listener().multiply_waited({observation(w).who(w, w.mask, op), allowed, complete});
}

void report_moved(Warp& w, async::RegisterPlace place) {
  if (HeldRegisters* const held = held_by(w)) held->moved(place);
}

bool stores_to_local(const Warp& w, const Op* op) {
  const Guard& guard = op->what->guard;
  const std::uint32_t mask =
      w.mask & (guard ? w.predicate(w.frame->code->slots[guard.reg], guard.negated) : all_lanes);
  const std::uint64_t window = w.block->grid->memory->windows().local;
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, ptx::Space::generic, addresses);
  bool all = mask != 0;
  each_lane(mask, [&](int l) {
    std::uint64_t offset = 0;
    all &= in_window(addresses[l], window, Windows::local_size, offset);
  });
  return all;
}

const Op* report_touched(Warp& w, const Op* op) {
  const std::uint32_t mask =
      op->guard == no_ref ? w.mask : w.mask & w.predicate(op->guard, op->flags & Op::guard_negated);
  HeldRegisters* const held = mask && observes_multiplies(w) ? held_by(w) : nullptr;
  if (!held || (may_spill(*op->what) && stores_to_local(w, op))) return op + 1;
  const Code& code = *w.frame->code;
  const auto& may_be_held = code.description->held;
  for (const RegisterUse& use : op->what->reads)
    if (may_be_held[use.reg])
      report_use(w, op, use.reg, held->writer(code.slots[use.reg]), true, false);
  for (const RegisterUse& use : op->what->writes) {
    if (!may_be_held[use.reg]) continue;
    const Ref place = code.slots[use.reg];
    report_use(w, op, use.reg, held->writer(place), true, true);
    report_use(w, op, use.reg, held->reader(place), false, true);
    held->written(place, code.first_number + op->instruction, stays_in_place(*op->what));
  }
  return op + 1;
}

}  // namespace inflight::machine
