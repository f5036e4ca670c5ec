// Which of an instruction's memory accesses are reported to listeners, and in which terms.
#pragma once
#include "gpu/check/events.hpp"
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

// The memory operand of an instruction of `function` whose access listeners are notified of; null
// if there is none. Parameters of functions that are not kernels are left out: they act as
// registers.
const MemoryOperand* observed_access(const Instruction& in, const ptx::Function& function);
// Whether listeners are notified of accesses through this operand.
bool is_observed(const MemoryOperand& m, const ptx::Function& function);
// Whether the access is weak, or to local, parameter or constant memory. Such an access is reported
// before it happens.
bool is_plain(const MemoryOperand& m);
check::Access::Kind access_kind(MemoryOperand::Role role);  // of an observed access
check::Space check_space(ptx::Space space);                 // generic counts as global

}  // namespace inflight::machine
