// The operands of a wgmma: their places in shared memory and in the registers of four warps.
#pragma once
#include "gpu/async/matrix_descriptor.hpp"
#include "gpu/async/multiplies.hpp"
#include "gpu/machine/instruction/instruction.hpp"
#include "gpu/tensor/product.hpp"

namespace inflight::machine {

inline constexpr std::uint32_t rows_a_warp = 16;  // of the 64 that a warpgroup multiplies

// An operand in shared memory: `lines` lines of `chunks` chunks.
struct SharedOperand {
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
SharedOperand operand_a(const WgmmaUse& use, std::uint64_t descriptor);
SharedOperand operand_b(const WgmmaUse& use, std::uint64_t descriptor);

// An async::Multiply: computes the product once all four warps have issued it. `what` is the op,
// `context` the block.
void multiply_warpgroup(const async::Multiplication& m);

}  // namespace inflight::machine
