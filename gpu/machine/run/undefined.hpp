// Follows bits that the program has never written, from their load to their uses.
#pragma once
#include "gpu/machine/run/undefined_registers.hpp"

namespace inflight::machine {

// Executes until no register of the warp is undefined, or its slice ends (returns null).
const Op* follow(Warp& w, const Op* pc);
// Executes one op.
const Op* follow_one(Warp& w, const Op* pc);
// For an op that has reported a load of undefined bytes, or, with `next`, that has also performed
// it and continues there. Performs the rest of the instruction and follows what it has loaded.
const Op* follow_load(Warp& w, const Op* op, const check::UndefinedBytes& loaded);
const Op* follow_load(Warp& w, const Op* op, const check::UndefinedBytes& loaded, const Op* next);
// Finds the undefined bytes of what `op`'s instruction stores.
void find_stored(Warp& w, const Op* op, std::uint32_t mask, check::UndefinedBytes& stored);

}  // namespace inflight::machine
