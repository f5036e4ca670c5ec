// Every form's arithmetic, one output at a time: what is fast is held against it.
#pragma once
#include <span>

#include "gpu/tensor/product.hpp"

namespace inflight::tensor {

void multiply_by_the_model(const Numerics& numerics, const Product& product,
                           const Matrices& matrices);
// Outputs of one column of a floating product but of f64: their bits.
void outputs_of_the_model(const Numerics& numerics, const Product& product,
                          const Matrices& matrices, int column, std::span<const int> rows,
                          std::uint32_t* bits);

}  // namespace inflight::tensor
