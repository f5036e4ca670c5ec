// Of the warp's instructions for tensor cores: what they multiply, and which forms there are.
#pragma once
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

// A TensorUse; nothing if there is no such form.
Detail tensor_use(const ptx::Function& function, const ptx::Instruction& in);

// Of the matrix that a wmma.load or store moves.
std::uint32_t matrix_bytes(const Detail& detail);
// The elements of the matrix; its lines in memory, and the elements of a line.
tensor::Element element_of(const TensorUse& use);
int lines_of(const TensorUse& use);
int line_elements(const TensorUse& use);

}  // namespace inflight::machine
