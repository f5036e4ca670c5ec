// Completion of a block's named barriers (PTX ISA, "bar, barrier").
#include "gpu/machine/families/barrier.hpp"
#include "gpu/machine/report/observe.hpp"
#include "gpu/machine/run/block.hpp"

namespace inflight::machine {

bool Block::complete(std::uint32_t id) const {
  const NamedBarrier& b = barriers[id];
  return b.arrived != 0 && b.arrived >= (b.expected ? b.expected : alive_threads);
}

void Block::try_complete(std::uint32_t id) {
  if (!complete(id)) return;
  const NamedBarrier phase = barriers[id];
  barriers[id] = {};
  if (grid->observation)
    grid->observation->barrier(*this, id, check::Barrier::Step::complete, nullptr, phase.expected,
                               phase.arrived);
  const std::uint32_t in_step = turns.phases_in_step();
  for (auto& w : warps)
    for (Split& s : w->parked) {
      if (s.wait != Wait::barrier || s.detail != id) continue;
      if (s.pc->c != no_ref) deliver_reduction(*s.frame, s.pc, s.mask, phase);
      s.wait = Wait::nothing, ++s.pc;
      w->phases = in_step;
    }
}

// A barrier that waits for every thread waits for those that still live.
void Block::threads_exited(std::uint32_t count) {
  alive_threads -= count;
  for (std::uint32_t id = 0; id < barriers.size(); ++id)
    if (barriers[id].arrived != 0 && barriers[id].expected == 0) try_complete(id);
}

}  // namespace inflight::machine
