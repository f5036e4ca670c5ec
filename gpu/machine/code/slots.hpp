// Where in a frame the lanes of each register lie.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/machine/code/op.hpp"
#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

struct Slots {
  std::vector<Ref> ref;          // by register; no_ref: nothing reads or writes it
  std::uint32_t bytes = 0;       // of the frame, a multiple of 64
  std::uint32_t live_words = 0;  // 32-bit registers a thread that live at once at most
};

// Bytes of a register's slot: 32 lanes of its width; one word for a predicate.
unsigned slot_bytes(ptx::Type type);

// Linear scan over the layout order. Registers whose lives do not overlap share slots, so that what
// a warp works on stays in the first-level cache.
Slots allocate(const Function& function);

}  // namespace inflight::machine
