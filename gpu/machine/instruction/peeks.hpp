// Weak loads that only look at what an atomic then updates.
#pragma once
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Sets MemoryOperand::peeks of each weak load from whose place control can come to an atomic or a
// reduction on the same address that depends on the loaded value, or to which a branch on that
// value leads: `old = *p; while (...) atomicCAS(p, ...)`, `if (v > *p) atomicMax(p, v)`. There is
// no barrier of the block or the cluster and no call between.
void find_peeks(Function& function);

}  // namespace inflight::machine
