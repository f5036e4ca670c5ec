// The texture and surface instructions: which texels they access, or which property they query.
#pragma once
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

// Each returns std::monostate if the form names no supported geometry or query.
Detail texture_read_use(const ptx::Function&, const ptx::Instruction& in);
Detail texture_query_use(const ptx::Function&, const ptx::Instruction& in);
Detail surface_use(const ptx::Function&, const ptx::Instruction& in);

}  // namespace inflight::machine
