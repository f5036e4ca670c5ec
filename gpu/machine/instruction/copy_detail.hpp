// Of copies: what they move, and what completes them. Of tensormap.replace: which field it writes.
#pragma once
#include <optional>

#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

Detail thread_copy_use(const ptx::Function& function, const ptx::Instruction& in);
Detail bulk_copy_use(const ptx::Function& function, const ptx::Instruction& in);
Detail tensor_copy_use(const ptx::Function& function, const ptx::Instruction& in);
Detail async_store_use(const ptx::Function& function, const ptx::Instruction& in);

// The element type of a reduction in memory that a PTX type names, if it is one.
std::optional<async::TensorType> element_type_of(ptx::Type type);

// Nothing: a field that sm_90 has not.
Detail map_field_use(const ptx::Module& module, const ptx::Instruction& in);

}  // namespace inflight::machine
