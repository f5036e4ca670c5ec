// Strong loads whose value a thread only compares, as in polls of a counter.
#pragma once
#include <cstdint>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Sets MemoryOperand::decides and Function::comparisons.
void find_comparisons(Function& function);
// That of the load; null: it has none.
const Comparison* comparison_of(const Function& function, std::uint32_t load);
// Some function of this process has one.
bool any_comparisons();

}  // namespace inflight::machine
