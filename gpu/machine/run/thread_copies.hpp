// Between the machine and the model of asynchronous copies.
#pragma once
#include <cstdint>

#include "gpu/async/copy_groups.hpp"
#include "gpu/machine/run/access.hpp"

namespace inflight::machine {

struct Block;
struct Warp;

// The warp's copies in flight: made on first use.
async::Team& team_of(Warp& warp);

// Wakes who waits for the mbarrier at `offset` in shared memory; Warp::any_detail: for any.
void wake_mbarrier(Block& block, std::uint64_t offset);

// Lets the asynchronous arrivals that waiters on this mbarrier need happen now, with the copies
// before them, and wakes who can go on.
void settle_mbarrier(Block& block, const async::mbarrier::Word* word);

// Copies in flight whose sources are in [low, high) of global memory are watched: a change there
// is noticed when they land.
void watch_copies(Cluster& cluster, std::uint64_t low, std::uint64_t high);

// Passes on what a team's call did: wakes waiters of a phase that is complete, reports a violation.
void notify(Block& block, const async::Progress& progress);

// In front of a wait for the warp's copies. On a chip they are on their way long enough for the
// block's other warps to come to their own waits; here those take their turns first.
const Op* run_copy_wait(Warp& warp, const Op* op);

// Completes every copy and asynchronous arrival of these lanes, at their end.
void flush_team(Warp& warp, std::uint32_t mask);
// Completes everything that is pending in the block, and wakes who waited for it. True if anything
// was pending.
bool flush_block(Block& block);
// The block's number has changed and nothing is in flight: streams of random timing start afresh.
void start_teams(Block& block);
// A moment passes: with shuffled timing, copies in flight may move. Costs nothing when none is.
void advance_block(Block& block);

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
