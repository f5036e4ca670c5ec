// Events of tensor memory, except for the places that tcgen05.ld, st, mma and cp access.
#pragma once
#include "gpu/check/events/tensor_memory.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Does the launch's listener want events of tensor memory?
bool observes_tensor_memory(const Warp& warp);

// The warp has allocated or freed columns, or executes relinquish_alloc_permit.
void report_tensor_allocation(const Warp& warp, const Op* op, check::TensorAllocation::Step step,
                              std::uint32_t group, std::uint32_t first = 0,
                              std::uint32_t columns = 0);
// It uses columns of the block, which is its own or the pair's other one, that are not allocated.
void report_unallocated(const Warp& warp, const Op* op, const Block& block, std::uint32_t first,
                        std::uint32_t columns);
void report_tensor_step(const Warp& warp, const Op* op, check::TensorStep::What what);

// Runs before an instruction that reads what the tcgen05.ld at Op::imm has loaded.
const Op* report_load_used(Warp& warp, const Op* op);

}  // namespace inflight::machine
