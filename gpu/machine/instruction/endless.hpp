// Loops that no thread leaves and whose execution nobody notices.
#pragma once
#include <vector>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// By basic block: whether threads that reach it only compute registers for ever. No path from there
// leaves the kernel, accesses memory, waits, or calls a function. A compiler makes such a loop of
// one that polls a plain variable, since it may read that once.
std::vector<bool> endless_blocks(const Function& function);

}  // namespace inflight::machine
