// The reference arithmetic of every form, one output at a time. Tests compare the fast cores with
// it.
#pragma once
#include <span>

#include "gpu/tensor/product.hpp"

namespace inflight::tensor {

void multiply_by_the_model(const Numerics& numerics, const Product& product,
                           const Matrices& matrices);
// Computes the bits of outputs in one column of a floating-point product other than f64.
void outputs_of_the_model(const Numerics& numerics, const Product& product,
                          const Matrices& matrices, int column, std::span<const int> rows,
                          std::uint32_t* bits);

}  // namespace inflight::tensor
