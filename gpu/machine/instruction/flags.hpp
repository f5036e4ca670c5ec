// Strong loads by whose value a thread decides where it goes, as in polls of flags.
#pragma once
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Sets MemoryOperand::flag of each strong load from whose value a guard, a branch or a call may
// depend, or which goes from global to shared memory, where other threads may decide by it.
void find_flags(Function& function);

}  // namespace inflight::machine
