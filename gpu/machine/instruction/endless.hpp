// Loops that no thread leaves.
#pragma once
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Sets Function::computes_forever: whether threads that reach the block only compute registers for
// ever. No path from there leaves the kernel, accesses memory, waits, or calls a function. A
// compiler makes such a loop of one that polls a plain variable, since it may read that once. The
// flow of the function must be known.
// Sets Function::repeats_forever: the same of threads that may also access memory and wait. No path
// from there leaves the function, ends the kernel or calls a function.
void find_endless_blocks(Function& function);

}  // namespace inflight::machine
