// The lifetimes of registers.
#pragma once
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Sets Function::lifetimes and live_words. The flow of the function must be known. A lifetime has
// no gaps, so more lifetimes overlap than registers are live.
void find_lifetimes(Function& function);

}  // namespace inflight::machine
