// What copies move and what completes them, and which field tensormap.replace writes.
#pragma once
#include <optional>

#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

Detail thread_copy_use(const ptx::Function& function, const ptx::Instruction& in);
Detail bulk_copy_use(const ptx::Function& function, const ptx::Instruction& in);
Detail tensor_copy_use(const ptx::Function& function, const ptx::Instruction& in);
Detail async_store_use(const ptx::Function& function, const ptx::Instruction& in);
// clusterlaunchcontrol.try_cancel: the hardware writes its answer of 16 bytes.
Detail cancel_use(const ptx::Function& function, const ptx::Instruction& in);

// The element type of a reduction in memory for a PTX type; nothing if the type has none.
std::optional<async::TensorType> element_type_of(ptx::Type type);

// The field that tensormap.replace writes; nothing if sm_90 does not have it.
Detail map_field_use(const ptx::Module& module, const ptx::Instruction& in);

}  // namespace inflight::machine
