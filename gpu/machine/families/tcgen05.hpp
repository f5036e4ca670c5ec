// What the instructions of tcgen05 share.
#pragma once
#include <string>
#include <string_view>

#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/tensor_memory.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Whether the module's target has the instruction. Refuses it if not.
bool has_tensor_memory(Lowering& lo);

// Ends the kernel with an illegal instruction. `check` is the name that NVIDIA's checks of tensor
// memory have for it (ptxas --g-tensor-memory-access-check), if they have one.
const Op* tensor_memory_fault(Warp& w, const Op* op, std::string why, std::string_view check = {});

// Whether all tcgen05 instructions of the block so far have this .cta_group. If not, and if the
// block has no pair although the group is 2, a fault has ended the kernel.
bool has_group(Warp& w, const Op* op, std::uint32_t group);
// The other block of the pair.
Block& peer_of(const Block& block);

// Whether `count` columns from the address on exist and are allocated in the block; if not, a fault
// has ended the kernel.
bool has_columns(Warp& w, const Op* op, Block& block, TensorAddress at, std::uint32_t count,
                 std::string_view what);

}  // namespace inflight::machine
