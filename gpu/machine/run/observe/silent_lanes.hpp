// Finds the lanes of a weak store that do not change memory.
#pragma once
#include <cstdint>

#include "gpu/machine/instruction/observed_access.hpp"
#include "gpu/machine/run/pending_stores.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// The lanes of a store whose bytes are in memory already, or will be after a lower lane of the same
// store writes the same value there. Where lanes write different values to one place, none of these
// lanes is silent. `in_row`: all lanes take part, and each one's bytes follow those of the lane
// before it.
std::uint32_t silent_lanes(Warp& w, const Op* op, const MemoryOperand& info, std::uint32_t mask,
                           const std::uint64_t* addresses, bool in_row);

// Puts what the store writes, for the lanes of `mask`, into `data`.
void find_store(Warp& w, const Op* op, const MemoryOperand& info, std::uint32_t mask,
                const std::uint64_t* addresses, StoreData& data);

}  // namespace inflight::machine
