// Follows bits that the program has never written from their load to what comes of them.
#pragma once
#include "gpu/machine/run/undefined_registers.hpp"

namespace inflight::machine {

// Executes until no register of the warp is undefined, or its slice ends (null).
const Op* follow(Warp& w, const Op* pc);
// Executes one op.
const Op* follow_one(Warp& w, const Op* pc);
// Behind the op that has reported a load of such bytes, or that has performed it and goes on at
// `next`: performs what is left of the instruction, and follows what it has loaded.
const Op* follow_load(Warp& w, const Op* op, const check::UndefinedBytes& loaded);
const Op* follow_load(Warp& w, const Op* op, const check::UndefinedBytes& loaded, const Op* next);
// Which bytes of what `op`'s instruction stores are undefined.
void find_stored(Warp& w, const Op* op, std::uint32_t mask, check::UndefinedBytes& stored);

}  // namespace inflight::machine
