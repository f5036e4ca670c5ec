// Products of whole matrices of 16-bit floats, computed as a kernel does it: in tiles of wgmma,
// with sums in f32 and k in order.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gpu/tensor/element.hpp"

namespace inflight::tensor {

// A matrix. The steps, in elements, are between rows or columns (`step`) and along k (`k_step`).
struct Operand {
  const std::uint16_t* first;
  std::ptrdiff_t step, k_step;
};

struct Whole {
  Element input = Element::f16;  // of both operands; or bf16
  std::ptrdiff_t m = 0, n = 0, k = 0;
  Operand a, b;            // rows of A, columns of B
  float* sums;             // column by column
  std::ptrdiff_t leading;  // elements from one column to the next
};

// Multiplies with the numerics of sm_`number`, on all cores of the host.
void multiply_whole(int number, const Whole& product);

}  // namespace inflight::tensor
