// Where a function's accesses to memory shared by a block change between reading and writing.
//
// On a chip, the warps that a barrier has released run nearly side by side. If one reads soon after
// the barrier, another does not overwrite the value some dozens of instructions later before the
// read. A warp simulated far ahead would. So a warp pauses where reads are followed by a write, or
// writes by a read, and all warps begin each phase together. A write shortly after a read, or the
// reverse, begins no phase: warps on a chip are no closer to each other than that.
#pragma once
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Sets Function::begins_phase. The flow of the function must be known.
void find_phases(Function& function);

}  // namespace inflight::machine
