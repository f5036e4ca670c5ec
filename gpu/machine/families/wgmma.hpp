// Moves of registers of multiplications in flight, and reads that wait for them.
#pragma once
#include "gpu/machine/instruction/function.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Lowers a mov with Instruction::follows_multiplies.
bool lower_following_move(Lowering& lo);

// Runs before an instruction with Instruction::awaits_multiplies. Waits for the multiplications
// whose results it reads.
const Op* run_settle(Warp& warp, const Op* op);
// The same before an `st` to generic addresses, if they are in local memory.
const Op* run_settle_local(Warp& warp, const Op* op);

}  // namespace inflight::machine
