// Completion of a block's named barriers (PTX ISA, "bar, barrier").
#include "gpu/machine/run/block_barriers.hpp"

#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {

void deliver_reduction(Frame& frame, const Op* op, std::uint32_t mask, const NamedBarrier& phase) {
  using Step = BarrierUse::Step;
  const Step step = use_of<BarrierUse>(op).step;
  if (step < Step::red_popc || op->what->writes.empty()) return;
  const Ref to = frame.code->slots[op->what->writes.front().reg];
  if (to == no_ref) return;
  auto* out = reinterpret_cast<std::uint32_t*>(frame.registers.data() + (to & ~3u));
  if (step == Step::red_popc) {
    for (int l = 0; l < lanes; ++l)
      if ((mask >> l) & 1) out[l] = phase.reduced_popc;
    return;
  }
  const bool result = step == Step::red_and ? phase.reduced_and : phase.reduced_or;
  *out = result ? *out | mask : *out & ~mask;
}

bool Block::complete(std::uint32_t id) const {
  const NamedBarrier& b = barriers[id];
  return b.arrived != 0 && b.arrived >= (b.expected ? b.expected : alive_threads);
}

void Block::try_complete(std::uint32_t id, const LastToArrive& last) {
  if (!complete(id)) return;
  const NamedBarrier phase = barriers[id];
  barriers[id] = {.phase = phase.phase + 1};
  if (grid->observation) grid->observation->completed(*this, id, phase, last);
  const std::uint32_t in_step = turns.phases_in_step();
  for (auto& w : warps)
    for (Split& s : w->parked) {
      if (s.wait != Wait::barrier || s.detail != id) continue;
      if (phase.reduces) deliver_reduction(*s.frame, s.pc, s.mask, phase);
      if (grid->observation) grid->observation->wait_ended(*w, s);
      s.wait = Wait::nothing, ++s.pc;
      w->phases = in_step;
    }
}

// A barrier that waits for all threads waits only for those alive.
void Block::threads_exited(const Warp& warp, std::uint32_t mask) {
  alive_threads -= lane_count(mask);
  for (std::uint32_t id = 0; id < barriers.size(); ++id)
    if (barriers[id].arrived != 0 && barriers[id].expected == 0)
      try_complete(id, {warp, mask, nullptr});
}

}  // namespace inflight::machine
