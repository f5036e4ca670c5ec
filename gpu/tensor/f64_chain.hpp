// f64 products: each output is a chain of fused multiply-adds in the order of k.
#pragma once
#include "gpu/tensor/product.hpp"

namespace inflight::tensor {

void multiply_f64(const Product& product, const Matrices& matrices);

}  // namespace inflight::tensor
