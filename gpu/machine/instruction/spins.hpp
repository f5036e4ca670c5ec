// Compare-and-swaps and exchanges that a thread repeats until they succeed.
#pragma once
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Sets MemoryOperand::spins of each atom.cas and atom.exch whose result, and nothing else, decides
// a branch, if every path from one side of the branch leads back to the instruction, or to another
// one with the same address that spins. On these paths
// the thread only loads and computes, and address and expected value stay the same. A number of
// attempts that is limited, a barrier, or a write to memory on the way is another path.
void find_spins(Function& function);

}  // namespace inflight::machine
