// The lanes in which a load's value has no effect.
#pragma once
#include <cstdint>

#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Lanes of `mask`, which are about to load with `op`'s instruction, whose value decides no branch
// and goes to no register that is used: the other operand of an `and`, `or` or `selp` decides.
// Executes the rest of the basic block, and the later ones of Drop::beyond, on a copy of the
// registers. For loads with MemoryOperand::may_drop.
std::uint32_t dropped_lanes(Warp& w, const Op* op, std::uint32_t mask);

}  // namespace inflight::machine
