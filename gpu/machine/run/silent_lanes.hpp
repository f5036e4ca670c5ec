// Lanes of a weak store that leave memory as it is.
#pragma once
#include <cstdint>

#include "gpu/machine/instruction/observed_access.hpp"
#include "gpu/machine/run/pending_stores.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// The lanes of a store whose bytes are in memory already, or will be by a lower lane of the same
// store: lanes that write one value to one place. Where lanes differ in the value, none of those at
// that place.
std::uint32_t silent_lanes(Warp& w, const Op* op, const MemoryOperand& info, std::uint32_t mask,
                           const std::uint64_t* addresses);

// What the store writes, for the lanes of `mask`, into `data`.
void find_store(Warp& w, const Op* op, const MemoryOperand& info, std::uint32_t mask,
                const std::uint64_t* addresses, StoreData& data);

}  // namespace inflight::machine
