// The arithmetic of tensor cores as the papers have it, one output at a time. What is fast
// (vector_core) is held against it.
#pragma once
#include "gpu/tensor/product.hpp"

namespace inflight::tensor {

void multiply_by_the_model(const Numerics& numerics, const Product& product,
                           const Matrices& matrices);

}  // namespace inflight::tensor
