// Moves that follow multiplications in flight.
#pragma once
#include "gpu/machine/lowering/lowering.hpp"

namespace inflight::machine {

// Of a mov with Instruction::follows_multiplies.
bool lower_following_move(Lowering& lo);

}  // namespace inflight::machine
