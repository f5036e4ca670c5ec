// Every form's arithmetic, one output at a time: what is fast is held against it.
#pragma once
#include "gpu/tensor/product.hpp"

namespace inflight::tensor {

void multiply_by_the_model(const Numerics& numerics, const Product& product,
                           const Matrices& matrices);
// One output of a floating product but of f64: its bits.
std::uint64_t output_of_the_model(const Numerics& numerics, const Product& product,
                                  const Matrices& matrices, int row, int column);

}  // namespace inflight::tensor
