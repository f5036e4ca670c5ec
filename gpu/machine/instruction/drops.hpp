// Loads whose value may be without effect, because other values decide: compilers load the second
// operand of `first && second` in all lanes, and combine the predicates.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Does the instruction only compute registers from those of its own lane?
bool computes_alone(const Instruction& in);
// Is it an and, an or or a choice, in which one operand may decide?
bool may_decide(const ptx::Function& text, const Instruction& in);
// Does it compare an integer register with 0, for equality?
bool compares_with_zero(const ptx::Function& text, const Instruction& in);

// Sets MemoryOperand::may_drop and Function::drops.
void find_drops(Function& function);
// That of the load; null: it has none.
const Drop* drop_of(const Function& function, std::uint32_t load);

}  // namespace inflight::machine
