// A warpgroup and the multiplications that it has in flight.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/async/multiplies.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/held_registers.hpp"

namespace inflight::machine {

// The effect of the setmaxnreg instructions of a warpgroup's warps.
struct RegisterCounts {
  std::array<std::uint32_t, async::warps_of_group> held{};      // per thread; 0: as at entry
  std::array<std::uint32_t, async::warps_of_group> executed{};  // by warp: how many of `order`
  std::vector<const Op*> order;
};
// Split::detail of a setmaxnreg that waits for registers (Wait::warpgroup).
struct RegistersAwaited {
  std::uint32_t more, left;  // needed per thread; in the pool, per thread of one warp
  std::uint64_t detail() const { return mark | std::uint64_t{left} << 16 | more; }
  static bool is_in(std::uint64_t detail) { return (detail & mark) != 0; }
  static RegistersAwaited of(std::uint64_t detail) {
    return {static_cast<std::uint32_t>(detail & 0xffff),
            static_cast<std::uint32_t>(detail >> 16 & 0xffff)};
  }

 private:
  static constexpr std::uint64_t mark = std::uint64_t{1} << 32;
};

// Four warps of a block, the first of which has a rank that is a multiple of four, and their
// multiplications.
class Warpgroup {
 public:
  Warpgroup(Block& block, std::uint32_t first_warp);
  async::Multiplies& model;
  Block& block;
  std::array<HeldRegisters, async::warps_of_group> held;  // for its events
  const std::uint32_t first_warp;
  RegisterCounts registers;
  std::uint8_t waits = 0;  // for its events, bit i: warp i waits (wait_for_warpgroup)

  // Wakes the group's waiting warps, which check their condition again.
  void wake();
};

// The warp's group, created on first use. Null: the block has no four warps there.
Warpgroup* warpgroup_of(Warp& warp);
constexpr std::uint32_t rank_in_group(const Warp& w) { return w.index % async::warps_of_group; }

// The lanes of a warp are together: reports the end of their waits for each other.
void report_met(Warp& warp, const Op* op);
// The warp executes the op again when its warpgroup may be ready. `detail`: of the Split.
const Op* wait_for_warpgroup(Warp& warp, const Op* op, Warpgroup& group, std::uint64_t detail);
// Reports the end of such a wait, if there was one.
void report_warpgroup_ready(Warp& warp, const Op* op, Warpgroup& group);

// Does the mov from (or, with `value`, to) a register concern multiplications in flight? Then it is
// queued with them and takes effect in its order.
bool move_in_flight(Warp& warp, const async::Multiplies::Move& move);

// The registers in the pool, per thread of one warp: what setmaxnreg.dec has returned of the
// `entry` registers that each thread had at entry. Threads that exit keep theirs, as on an H200.
std::uint32_t registers_left(const Block& block, std::uint32_t entry);
// Wakes warps that wait for registers, because some came back.
void wake_warpgroups(Block& block);

// The fault text for a warp of this index that has ended while others of its warpgroup execute
// setmaxnreg.
std::string ended_without_setmaxnreg(std::uint32_t warp);
// Tells a checker that the warp's setmaxnreg breaks a rule (`why`; empty: it breaks none). PTX does
// not define this case, and a chip goes on.
void report_misuse(Warp& warp, const Op* op, std::string_view why);
// Reports it if `warp` has ended without a setmaxnreg that others of its warpgroup have executed.
void check_ended(Warp& warp);

// Resets the block's warpgroups at its start.
void start_warpgroups(Block& block);

}  // namespace inflight::machine
