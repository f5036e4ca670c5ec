// Events of an instruction's accesses to memory.
#pragma once
#include "gpu/check/events.hpp"
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

// The operand through which an instruction of `function` accesses memory, if listeners are notified
// of it: parameters of functions are registers in all but name.
const MemoryOperand* observed_access(const Instruction& in, const ptx::Function& function);
// Is this such an operand?
bool is_observed(const MemoryOperand& m, const ptx::Function& function);
// Does it only concern the thread, or order nothing? Such an access is reported before it happens.
bool is_plain(const MemoryOperand& m);
check::Access::Kind access_kind(MemoryOperand::Role role);  // of one that is observed
check::Space check_space(ptx::Space space);                 // generic: global

}  // namespace inflight::machine
