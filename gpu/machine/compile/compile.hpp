// Host code for kernels: made, kept with the kernel's code, and put where the interpreter enters
// it.
#pragma once
#include <string>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/shapes/shapes.hpp"

namespace inflight::machine::compile {

// Why this host or this build cannot run compiled kernels, in a few words; empty if it can.
std::string unavailable();

// The kernel compiled for blocks whose threads lie in warps in this way. Compiles it at the first
// call, before any launch runs code that the call changes. It may have no code but a reason
// (Compiled::why_not). `whole`: with all that can be compiled, not only where it pays.
const Compiled& compiled(const Code& code, BlockRows rows, bool whole = false);

}  // namespace inflight::machine::compile
