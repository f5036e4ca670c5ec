// Host code for kernels: made, kept with the kernel's code, and put where the interpreter enters
// it.
#pragma once
#include <string>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/shapes/shapes.hpp"

namespace inflight::machine::compile {

// Why this host or this build cannot run compiled kernels, in a few words; empty if it can.
std::string unavailable();

// The kernel compiled for blocks whose threads lie in warps in this way, also while launches run
// it. The first call compiles it. It may have no code but a reason (Compiled::why_not). `whole`:
// with all that can be compiled, not only where it pays.
const Compiled& compiled(const Code& code, BlockRows rows, bool whole = false);
// Has a helper thread do so, and returns at once. Code::compiled has it when it is ready.
void request(const Code& code, BlockRows rows);

}  // namespace inflight::machine::compile
