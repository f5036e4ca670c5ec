// The warp-level tensor core instructions: which forms exist and what they multiply.
#pragma once
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

// A TensorUse; std::monostate if there is no such form.
Detail tensor_use(const ptx::Function& function, const ptx::Instruction& in);

// Bytes of the matrix that a wmma.load or store moves.
std::uint32_t matrix_bytes(const Detail& detail);
// The matrix's element type, its lines (rows or columns) in memory, and the elements of a line.
tensor::Element element_of(const TensorUse& use);
int lines_of(const TensorUse& use);
int line_elements(const TensorUse& use);

}  // namespace inflight::machine
