// Which core computes what.
#include "gpu/tensor/model.hpp"

namespace inflight::tensor {

void multiply(const Numerics& numerics, const Product& product, const Matrices& matrices) {
  multiply_by_the_model(numerics, product, matrices);
}

}  // namespace inflight::tensor
