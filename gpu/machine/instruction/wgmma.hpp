// What a wgmma multiplies, and which registers it may use while in flight.
#pragma once
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Describes a wgmma.mma_async, sparse or not.
WgmmaUse wgmma_use(const ptx::Function& function, const ptx::Instruction& in);

// Is it an `st` to generic addresses, which may be in local memory?
bool may_spill(const Instruction& in);

// Finds the registers that multiplications in flight may use (Function::held) and the moves to or
// from them (Instruction::follows_multiplies). In kernels it also finds the reads of accumulators
// at which the assembler's code waits (Instruction::awaits_multiplies): spills to local memory, and
// reads between a multiplication and its commit_group. After the commit a read does not wait, as in
// PTX. Does nothing if there is no wgmma.
void find_held_registers(Function& function);

}  // namespace inflight::machine
