// mbarriers as a block's threads name them and wait for them.
#pragma once
#include <cstdint>

#include "gpu/async/mbarrier.hpp"
#include "gpu/machine/run/access.hpp"

namespace inflight::machine {

struct Block;
struct Warp;

// Wakes who waits for the mbarrier at `offset` in shared memory.
void wake_mbarrier(Block& block, std::uint64_t offset);

// Lets what waiters on this mbarrier need of all that is in flight happen now, and wakes who can go
// on.
void settle_mbarrier(Block& block, const async::mbarrier::Word* word);

// The mbarriers that lanes name.
struct LaneMbarriers {
  std::uint64_t addresses[lanes];  // as written
  Block* blocks[lanes];            // of the cluster, in whose shared memory they are
  std::uint32_t offsets[lanes];    // there
  async::mbarrier::Word& word(int lane) const {
    return *reinterpret_cast<async::mbarrier::Word*>(blocks[lane]->shared + offsets[lane]);
  }
};
// Finds them by the addresses of Op::a and Op::imm, in the space of the first memory operand.
// `own_only`: the instruction works on mbarriers of the executing block alone.
BadLanes resolve_mbarriers(Warp& w, const Op* op, bool own_only, LaneMbarriers& out);

}  // namespace inflight::machine
