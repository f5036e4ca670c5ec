// Which registers live when, and the slots they get.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "gpu/machine/decode/flow.hpp"
#include "gpu/machine/decode/op.hpp"

namespace inflight::machine {

struct Slots {
  std::vector<Ref> ref;          // by register: where its lanes lie in the frame, or no_ref
  std::uint32_t bytes = 0;       // of the frame, a multiple of 64
  std::uint32_t live_words = 0;  // 32-bit registers a thread that live at once at most
};

// Bytes of a register's slot: 32 lanes of its width; one word for a predicate.
unsigned slot_bytes(ptx::Type type);

// Calls visit(register, is_definition) for every register that an instruction names. A guarded
// definition keeps the old value in some lanes and so is reported as a use first.
void for_each_register(const ptx::Function& function, const ptx::Instruction& in,
                       const std::function<void(std::uint32_t, bool)>& visit);

// How many leading operands of the instruction are written, not read.
unsigned destinations(const ptx::Instruction& in);

// Linear scan over the layout order. Registers whose lives do not overlap share slots, so that what
// a warp works on stays in the first-level cache.
Slots allocate(const ptx::Function& function, const Flow& flow);

}  // namespace inflight::machine
