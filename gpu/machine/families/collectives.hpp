// Shared by the warp's collectives (shfl, vote, match, redux, elect, bar.warp.sync): which lanes
// must arrive, and what happens until they have.
//
// A `.sync` instruction waits until every living lane of its member mask executes the same
// instruction (same qualifiers) with the same mask, possibly at another place. Lanes that are not
// in their own mask take part as if they were, provided that all lanes that execute the instruction
// together have that mask. Otherwise they end the kernel. Reading from a lane that does not take
// part gives 0, as on an H200; PTX leaves it undefined.
#pragma once
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Executes a collective for the lanes of w.mask. All members have arrived, and `members` is their
// mask. Operands: Op::d, imm (the q of `d|q`, or no_ref), a, b, c. Op::extra is the Ref of the
// member mask, no_ref for forms without .sync.
using Collective = void (*)(Warp& w, const Op* op, std::uint32_t members);

// Flags in Op::detail that describe a collective's operands.
struct CollectiveShape {
  static constexpr std::uint16_t predicate_d = 1, predicate_a = 2, wide_a = 4, has_a = 8,
                                 has_bc = 16,
                                 same_members = 32,  // the member mask is a constant
      mapped = 64;                                   // shfl: Op::b is an index in shuffle_maps
};

// The lane that each lane of a shfl reads from, and the mask of lanes for which it is in their
// segment.
struct alignas(64) ShuffleMap {
  std::int32_t from[lanes];
  std::uint32_t inside = 0;
};
enum class Shuffle : std::uint8_t { up, down, bfly, idx };
// One for every mode, delta and width of CUDA's shuffle functions. Below the segment mask c is 31,
// or 0 for up. Filled when the first shfl is decoded.
extern ShuffleMap shuffle_maps[];

// The general case: groups the active lanes by member mask, runs the complete groups and parks the
// others.
const Op* run_groups(Warp& w, const Op* op, Collective run);

// Ends the kernel because lanes (`non_members`) are not in their member mask and others have
// another mask. This is undefined in PTX, and an illegal instruction on an H200 for every .sync
// instruction.
const Op* not_a_member(Warp& w, const Op* op, std::uint32_t non_members, std::uint32_t members);

// The mask of lanes whose value is `value`.
std::uint32_t lanes_equal(const std::uint32_t* values, std::uint32_t value);
// The values of an operand of a parked split, by lane.
const std::uint32_t* values_of(const Warp& w, const Split& s, Ref ref);
// Parks the lanes `mask` at `op` until the lanes `members` arrive. The other active lanes go on.
void keep_waiting(Warp& w, const Op* op, std::uint32_t mask, std::uint32_t members);

// Row::lower of all collectives: binds the row's operands, then the member mask.
bool lower_collective(Lowering& lo, const Row& row);

}  // namespace inflight::machine
