// Moves that follow multiplications in flight, and reads that wait for them.
#pragma once
#include "gpu/machine/instruction/function.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Of a mov with Instruction::follows_multiplies.
bool lower_following_move(Lowering& lo);

// Before an instruction with Instruction::awaits_multiplies: waits for those that give what it
// reads.
const Op* run_settle(Warp& warp, const Op* op);

}  // namespace inflight::machine
