// Products of whole matrices of 16-bit floats, as a kernel makes them: tiles of wgmma, the sums in
// f32, k in order.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gpu/tensor/element.hpp"

namespace inflight::tensor {

// Elements at steps of elements: of one row or column after the other, and along k.
struct Operand {
  const std::uint16_t* first;
  std::ptrdiff_t step, k_step;
};

struct Whole {
  Element input = Element::f16;  // or bf16: of both
  std::ptrdiff_t m = 0, n = 0, k = 0;
  Operand a, b;            // rows of A, columns of B
  float* sums;             // column by column
  std::ptrdiff_t leading;  // from one column to the next
};

// By the architecture sm_`number`, on all cores of the host.
void multiply_whole(int number, const Whole& product);

}  // namespace inflight::tensor
