// barrier.cluster (PTX ISA, "Parallel Synchronization and Communication: barrier.cluster").
#include "gpu/machine/run/cluster.hpp"

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;

const Op* run_arrive(Warp& w, const Op* op) {
  w.block->cluster->arrive(w, op);
  w.progressed = true;
  return op + 1;
}

// Each lane waits for the phase in which it arrived.
const Op* run_wait(Warp& w, const Op* op) {
  if (w.block->cluster->waiting(w, w.mask)) return w.park(op, Wait::cluster, 0);
  if (const Observation* const observation = w.block->grid->observation) {
    observation->wait_ended(w, {op, w.frame, w.mask, Wait::cluster});
    if (const std::uint32_t arrived = w.mask & w.cluster_arrived)
      observation->cluster_step(w, op, arrived, w.block->cluster->phase() - 1);
    if (const std::uint32_t others = w.mask & ~w.cluster_arrived)
      observation->cluster_step(w, op, others, w.block->cluster->phase(), true);
  }
  w.cluster_arrived &= ~w.mask;
  w.progressed = true;
  return w.jump(op + 1);
}

bool lower(Lowering& lo, const Row&) {
  if (!only(lo, {Mod::release, Mod::relaxed, Mod::acquire})) return false;
  if (!lo.operands.empty()) return lo.refuse("it takes no operands");
  lo.emit(lo.in.opcode == Opcode::barrier_cluster_arrive ? run_arrive : run_wait);
  return true;
}

}  // namespace

void cluster_rows(Rows& rows) {
  add(rows, any_form(Opcode::barrier_cluster_arrive, lower));
  add(rows, any_form(Opcode::barrier_cluster_wait, lower));
}

}  // namespace inflight::machine
