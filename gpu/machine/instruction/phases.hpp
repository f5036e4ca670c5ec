// Where a function's accesses change between reading and writing what a block shares.
//
// On a chip, the warps that a barrier has released run nearly side by side: what one reads at once,
// another does not overwrite some dozens of instructions later. A warp that runs far ahead would.
// So it pauses where a phase of reads ends with a write, or one of writes with a read, and all
// begin each phase together. Not so where a thread writes at once what it has just read, or the
// other way round: that is closer than warps are to each other, on a chip too.
#pragma once
#include <vector>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// For each instruction: does it begin a phase?
std::vector<bool> phase_begins(const Function& function);

}  // namespace inflight::machine
