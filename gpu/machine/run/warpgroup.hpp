// A warpgroup, and what it has in flight.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/async/multiplies.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/held_registers.hpp"

namespace inflight::machine {

// Four warps of a block whose first one's rank is a multiple of four, and what they multiply.
class Warpgroup {
 public:
  Warpgroup(Block& block, std::uint32_t first_warp);
  async::Multiplies& model;
  Block& block;
  std::array<HeldRegisters, async::warps_of_group> held;  // as its events have them
  const std::uint32_t first_warp;

  // Who waits for the group to issue what it waits for looks again.
  void wake();
};

// The warp's group: made on first use. Null: the block has no four warps there.
Warpgroup* warpgroup_of(Warp& warp);
constexpr std::uint32_t rank_in_group(const Warp& w) { return w.index % async::warps_of_group; }

// Does the mov from (or of `value`) to a register concern multiplications in flight? Then they do
// it when its time comes.
bool move_in_flight(Warp& warp, const async::Multiplies::Move& move);

// The block begins anew.
void start_warpgroups(Block& block);

}  // namespace inflight::machine
