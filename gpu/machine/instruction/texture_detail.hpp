// Of textures and surfaces: which texels an instruction accesses, or what it asks of them.
#pragma once
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

// Nothing: the form names no shape that is supported.
Detail texture_read_use(const ptx::Function&, const ptx::Instruction& in);
Detail texture_query_use(const ptx::Function&, const ptx::Instruction& in);
Detail surface_use(const ptx::Function&, const ptx::Instruction& in);

}  // namespace inflight::machine
