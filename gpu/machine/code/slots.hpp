// The place of each register's lanes in a frame.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/machine/code/op.hpp"
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

struct Slots {
  std::vector<Ref> ref;     // by register; no_ref: nothing reads or writes it
  std::uint32_t bytes = 0;  // of the frame, a multiple of 64
};

// Bytes of a register's slot: 32 lanes of its width; one word for a predicate.
unsigned slot_bytes(ptx::Type type);

// Assigns slots by linear scan in layout order. Registers whose lifetimes do not overlap share
// slots, so that a warp's working set stays in the first-level cache.
Slots allocate(const Function& function);

}  // namespace inflight::machine
