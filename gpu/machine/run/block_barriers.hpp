// Results of bar.red.
#pragma once
#include "gpu/machine/run/block.hpp"

namespace inflight::machine {

// Writes the result of a completed phase to `frame` for the lanes of `mask` that wait at `op`. Does
// nothing for instructions that do not reduce.
void deliver_reduction(Frame& frame, const Op* op, std::uint32_t mask, const NamedBarrier& phase);

}  // namespace inflight::machine
