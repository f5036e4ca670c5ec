// Moves that follow multiplications in flight, and spills that wait for them.
#pragma once
#include "gpu/machine/instruction/function.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Of a mov with Instruction::follows_multiplies.
bool lower_following_move(Lowering& lo);

// Does an instruction of the function put an accumulator that may be in flight into local memory?
// The compiler does that, and the assembler waits there for the multiplication.
bool spills_accumulators(const Instruction& in, const Function& function);
// Before it: the op that waits.
const Op* run_settle(Warp& warp, const Op* op);

}  // namespace inflight::machine
