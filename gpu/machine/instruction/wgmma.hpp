// What a wgmma multiplies, and which registers it may hold.
#pragma once
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Of a wgmma.mma_async, sparse or not.
WgmmaUse wgmma_use(const ptx::Function& function, const ptx::Instruction& in);

// Finds the registers that multiplications may hold in flight (Function::held), the moves that
// follow them (Instruction::follows_multiplies) and, in kernels, the reads of accumulators that wait
// for them as in the assembler's code (Instruction::awaits_multiplies): what spills them to local
// memory, and what stands between a multiplication and its commit_group. Behind the commit a read
// waits for nothing, as in PTX. Nothing where there is no wgmma.
void find_held_registers(Function& function);

}  // namespace inflight::machine
