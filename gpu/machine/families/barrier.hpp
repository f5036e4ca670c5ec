// The reductions of bar.red, between the instruction and the barrier's completion.
#pragma once
#include "gpu/machine/run/block.hpp"

namespace inflight::machine {

// What Op::detail of a bar or barrier instruction says.
enum class BarrierAction : std::uint16_t { sync, arrive, red_popc, red_and, red_or };

// Writes the result of a completed phase for the lanes of `mask` that wait at `op`, in their frame.
// Nothing for instructions that do not reduce.
void deliver_reduction(Frame& frame, const Op* op, std::uint32_t mask, const NamedBarrier& phase);

}  // namespace inflight::machine
