// A warpgroup, and what it has in flight.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/async/multiplies.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/held_registers.hpp"

namespace inflight::machine {

// What the setmaxnreg of a warpgroup's warps came to.
struct RegisterCounts {
  std::array<std::uint32_t, async::warps_of_group> held{};      // a thread; 0: as at entry
  std::array<std::uint32_t, async::warps_of_group> executed{};  // so many of `order`
  std::vector<const Op*> order;
};
// The detail of a wait at a warpgroup (Split::detail) that is for registers.
struct RegistersAwaited {
  std::uint32_t more, left;  // a thread's; of a warp's threads, in the pool
  std::uint64_t detail() const { return mark | std::uint64_t{left} << 16 | more; }
  static bool is_in(std::uint64_t detail) { return (detail & mark) != 0; }
  static RegistersAwaited of(std::uint64_t detail) {
    return {static_cast<std::uint32_t>(detail & 0xffff),
            static_cast<std::uint32_t>(detail >> 16 & 0xffff)};
  }

 private:
  static constexpr std::uint64_t mark = std::uint64_t{1} << 32;
};

// Four warps of a block whose first one's rank is a multiple of four, and what they multiply.
class Warpgroup {
 public:
  Warpgroup(Block& block, std::uint32_t first_warp);
  async::Multiplies& model;
  Block& block;
  std::array<HeldRegisters, async::warps_of_group> held;  // as its events have them
  const std::uint32_t first_warp;
  RegisterCounts registers;

  // Who waits for the group to issue what it waits for looks again.
  void wake();
};

// The warp's group: made on first use. Null: the block has no four warps there.
Warpgroup* warpgroup_of(Warp& warp);
constexpr std::uint32_t rank_in_group(const Warp& w) { return w.index % async::warps_of_group; }

// Does the mov from (or of `value`) to a register concern multiplications in flight? Then they do
// it when its time comes.
bool move_in_flight(Warp& warp, const async::Multiplies::Move& move);

// Of what the block's warps had at entry, `entry` a thread, so many are in the pool: given away by
// setmaxnreg.dec. Threads that end keep theirs, as an H200's do.
std::uint32_t registers_left(const Block& block, std::uint32_t entry);
// Warps that wait look again: registers came back.
void wake_warpgroups(Block& block);

// What is wrong where the warp of this index has ended and others of its warpgroup execute one.
std::string ended_without_setmaxnreg(std::uint32_t warp);
// Has the warp, which has ended, left out one that others of its warpgroup have executed? Then,
// under the checker, it ends the kernel.
void check_ended(Warp& warp);

// The block begins anew.
void start_warpgroups(Block& block);

}  // namespace inflight::machine
