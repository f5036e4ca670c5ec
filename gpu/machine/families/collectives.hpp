// What the warp's collectives (shfl, vote, match, redux, elect, bar.warp.sync) have in common: who
// must be there, and what happens while somebody is not.
//
// A `.sync` instruction waits until every living lane of its member mask executes the same
// instruction (same qualifiers) with the same mask; not necessarily at the same place. Lanes that
// their own mask leaves out take part as if it named them, provided that all lanes that execute the
// instruction together have that mask; else they end the kernel. Reading from a lane that does not
// take part gives 0, as on an H200; PTX leaves it undefined.
#pragma once
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Executes a collective for the lanes of w.mask, all of which are there; `members` are those.
// Operands: Op::d and imm (the q of `d|q`, or no_ref), a, b, c; extra is the member mask's ref,
// no_ref for forms without .sync.
using Collective = void (*)(Warp& w, const Op* op, std::uint32_t members);

// What Op::detail of a collective says of its operands.
struct CollectiveShape {
  static constexpr std::uint16_t predicate_d = 1, predicate_a = 2, wide_a = 4, has_a = 8,
                                 has_bc = 16,
                                 same_members = 32,  // the member mask is a constant
      mapped = 64;                                   // shfl: Op::b is an index in shuffle_maps
};

// Where each lane of a shfl reads from, and whether that lies in its segment.
struct alignas(64) ShuffleMap {
  std::int32_t from[lanes];
  std::uint32_t inside = 0;
};
enum class Shuffle : std::uint8_t { up, down, bfly, idx };
// For every mode, delta and width as the CUDA functions make them; c is 31 or, for up, 0, below the
// segment's mask.
// Filled when the first shfl is decoded.
extern ShuffleMap shuffle_maps[];

// The general case: groups the active lanes by member mask, runs the groups that are complete and
// parks the others.
const Op* run_groups(Warp& w, const Op* op, Collective run);

// Ends the kernel for lanes whose member mask leaves them out where others have another mask:
// undefined in PTX, an illegal instruction on an H200, for every .sync instruction.
const Op* not_a_member(Warp& w, const Op* op, std::uint32_t strangers, std::uint32_t members);

// Lanes whose value is `value`.
std::uint32_t lanes_equal(const std::uint32_t* values, std::uint32_t value);
// The lanes of an operand of a parked split.
const std::uint32_t* values_of(const Warp& w, const Split& s, Ref ref);
// Parks some of the active lanes at `op` until lanes of `members` come; the others go on.
void keep_waiting(Warp& w, const Op* op, std::uint32_t mask, std::uint32_t members);

// Row::lower of all collectives: the row's operands, then the member mask.
bool lower_collective(Lowering& lo, const Row& row);

}  // namespace inflight::machine
