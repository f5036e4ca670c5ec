// Finds the mbarriers that a block's threads name, and wakes threads that wait for them.
#pragma once
#include <cstdint>

#include "gpu/async/mbarrier.hpp"
#include "gpu/machine/run/access.hpp"

namespace inflight::machine {

struct Block;
struct Warp;

// Wakes threads that wait for the mbarrier at `offset` in shared memory.
void wake_mbarrier(Block& block, std::uint64_t offset);

// Completes the operations in flight that waiters on this mbarrier need, and wakes those that can
// continue.
void settle_mbarrier(Block& block, const async::mbarrier::Word* word);

// Whether the values of these lanes are equal. There is at least one lane.
bool are_equal(std::uint32_t mask, const std::uint64_t* by_lane);
bool are_equal(std::uint32_t mask, const std::uint32_t* by_lane);

// The mbarriers that lanes name, by lane.
struct LaneMbarriers {
  std::uint64_t addresses[lanes];  // as in the program
  Block* blocks[lanes];            // the blocks whose shared memory holds them
  std::uint32_t offsets[lanes];    // in that shared memory
  bool one;                        // all active lanes name the same mbarrier
  async::mbarrier::Word& word(int lane) const {
    return *reinterpret_cast<async::mbarrier::Word*>(blocks[lane]->shared + offsets[lane]);
  }
};
// Finds them by Op::a and Op::imm, in the space of the first memory operand. `own_only`: the
// instruction works only on mbarriers of the executing block.
BadLanes resolve_mbarriers(Warp& w, const Op* op, bool own_only, LaneMbarriers& out);

}  // namespace inflight::machine
