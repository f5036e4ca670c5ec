// The first use, in each basic block, of what a tcgen05.ld has loaded: a thread that reads a
// register waits for the load that writes it, so the load is complete then, whether or not
// tcgen05.wait::ld follows.
#pragma once
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Sets Instruction::completes_load, by the function's flow. Moves do not count, because assemblers
// remove them.
void find_load_uses(Function& function);

}  // namespace inflight::machine
