// What a wgmma multiplies, and which registers it may hold.
#pragma once
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Of a wgmma.mma_async, sparse or not.
WgmmaUse wgmma_use(const ptx::Function& function, const ptx::Instruction& in);

// Finds the registers that multiplications may hold in flight (Function::held) and the moves that
// follow them (Instruction::follows_multiplies). Nothing where there is no wgmma.
void find_held_registers(Function& function);

}  // namespace inflight::machine
