// The operands of tcgen05.mma and cp: their places in shared and in tensor memory.
#pragma once
#include "gpu/async/matrix_descriptor.hpp"
#include "gpu/async/tensor_work.hpp"
#include "gpu/machine/families/tcgen05_descriptor.hpp"

namespace inflight::machine {

struct Block;

// A matrix in shared memory, by its descriptor: `lines` lines of `chunks` chunks.
struct BlockOperand {
  async::MatrixDescriptor descriptor;
  async::Major major = async::Major::k;
  std::uint32_t lines = 0, chunks = 0;
  std::uint32_t address(std::uint32_t line, std::uint32_t chunk) const {
    return async::chunk_address(descriptor, major, line, chunk);
  }
  // The end address without swizzling and wrapping.
  std::uint32_t end() const {
    return descriptor.start + async::chunk_offset(descriptor, major, lines - 1, chunks - 1) +
           async::swizzle_chunk;
  }
};
// `mn`: rows of A or columns of B in one block.
BlockOperand block_operand(std::uint64_t bits, async::Major major, std::uint32_t mn,
                           std::uint32_t row_bytes, tensor::Element element);
// What is wrong with the bits of a matrix descriptor for these elements; empty if nothing is.
std::string matrix_descriptor_mistake(std::uint64_t bits, async::Major major,
                                      std::uint32_t element_bytes);

// Where a block has the rows of its part of D (and of A): by rows of 16, and by parts of the
// columns that lie in the same columns of other lanes.
struct BlockLayout {
  std::uint32_t rows = 128;  // of the block
  std::uint32_t parts = 1;   // of the columns
  bool spread = false;       // 16 rows in each 32 lanes
  std::uint32_t lane(std::uint32_t row) const { return spread ? row % 16 + row / 16 * 32 : row; }
  std::uint32_t lanes_a_part() const { return 128 / parts; }
};
BlockLayout layout_of(const BlockMultiplyUse& use, const InstructionDescriptor& of);
// Columns of D, of an A in tensor memory, and of each matrix of scales.
std::uint32_t columns_of_d(const BlockLayout& layout, const InstructionDescriptor& of);
inline constexpr std::uint32_t columns_of_a = 8;
std::uint32_t columns_of_scales(std::uint32_t count);

// async::Perform: executes a tcgen05.mma or cp. `what` is the op, `context` the block whose thread
// issued it.
void perform_multiply(const async::TensorOperation& operation);
void perform_copy(const async::TensorOperation& operation);

}  // namespace inflight::machine
