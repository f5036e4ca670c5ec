// Instructions that control the machine: nanosleep, trap, brkpt, pmevent, setmaxnreg,
// griddepcontrol (PTX ISA 9.7.19 and 9.7.13).
#include <algorithm>
#include <utility>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/register_counts.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

using ptx::Opcode;
using ptx::Type;

// All lanes sleep for the longest time that any of them requests. PTX allows up to twice the time
// and guarantees none.
const Op* run_nanosleep(Warp& w, const Op* op) {
  const auto* asked = w.at<std::uint32_t>(op->a);
  std::uint32_t longest = 0;
  each_lane(w.mask, [&](int lane) { longest = std::max(longest, asked[lane]); });
  return w.block->sleep(w, op, longest);
}

const Op* run_trap(Warp& w, const Op* op) {
  return w.fault(
      op, FaultKind::trap, w.mask,
      "the code ends the kernel as failed, as __trap() and failed checks of libraries do");
}

const Op* run_brkpt(Warp& w, const Op* op) {
  return w.fault(op, FaultKind::illegal_instruction, w.mask,
                 "executed brkpt, and no debugger is attached");
}

// Dependent launches no longer wait for this block from here on.
const Op* run_launch_dependents(Warp& w, const Op* op) {
  Block& block = *w.block;
  const bool first = !std::exchange(block.launched_dependents, true);
  if (block.grid->observation) block.grid->observation->dependents_may_begin(w, op, first);
  if (block.grid->dependents && first) block.grid->launch_dependents(true);
  return op + 1;
}

const Op* run_wait_for_grids(Warp& w, const Op* op) {
  Grid& grid = *w.block->grid;
  if (grid.waits_for_grids()) {
    w.block->held = true;
    return w.park(op, Wait::grids, 0);
  }
  if (grid.observation) {
    grid.observation->wait_ended(w, {op, w.frame, w.mask, Wait::grids});
    grid.observation->grids_ended(w, op);
  }
  return w.jump(op + 1);
}

bool lower_nanosleep(Lowering& lo, const Row&) {
  if (lo.operands.size() != 1) return lo.refuse("takes a duration");
  const Ref duration = lo.source(lo.operands[0], Type::u32);
  if (duration == no_ref) return false;
  lo.emit(run_nanosleep).a = duration;
  return true;
}
bool lower_trap(Lowering& lo, const Row&) {
  lo.emit(run_trap);
  return true;
}
bool lower_brkpt(Lowering& lo, const Row&) {
  lo.emit(run_brkpt);
  return true;
}

bool lower_launch_dependents(Lowering& lo, const Row&) {
  lo.code().launches_dependents = true;
  lo.emit(run_launch_dependents);
  return true;
}
bool lower_wait_for_grids(Lowering& lo, const Row&) {
  lo.emit(run_wait_for_grids);
  return true;
}

// Does nothing: there is no profiler to receive the event.
bool lower_nothing(Lowering&, const Row&) { return true; }

bool lower_register_count(Lowering& lo, const Row&) { return lower_setmaxnreg(lo); }

}  // namespace

void system_rows(Rows& rows) {
  const std::pair<Opcode, bool (*)(Lowering&, const Row&)> all[] = {
      {Opcode::nanosleep, lower_nanosleep},
      {Opcode::trap, lower_trap},
      {Opcode::brkpt, lower_brkpt},
      {Opcode::pmevent, lower_nothing},
      {Opcode::setmaxnreg, lower_register_count},
      {Opcode::griddepcontrol_wait, lower_wait_for_grids},
      {Opcode::griddepcontrol_launch_dependents, lower_launch_dependents}};
  for (const auto& [opcode, lower] : all)
    add(rows, {.opcode = opcode, .types = {}, .mods = {}, .operands = {}, .lower = lower});
}

}  // namespace inflight::machine
