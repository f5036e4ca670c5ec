// What listeners hear of an instruction's accesses to memory.
#pragma once
#include "gpu/check/events.hpp"
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

// The operand through which an instruction of `function` accesses memory, if listeners hear of it:
// parameters of functions are registers in all but name.
const MemoryOperand* observed_access(const Instruction& in, const ptx::Function& function);
check::Access::Kind access_kind(MemoryOperand::Role role);  // of one that they hear of
check::Space check_space(ptx::Space space);                 // generic: global

}  // namespace inflight::machine
