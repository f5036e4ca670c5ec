// The fast implementations (cores), compiled once for each instruction set.
#pragma once
#include "gpu/tensor/product.hpp"

namespace inflight::tensor {

// Each function computes the product and returns true, or returns false and leaves it to the model.
struct Cores {
  bool (*floats)(const Numerics&, const Product&, const Matrices&);
  bool (*integers)(const Product&, const Matrices&);
  bool (*doubles)(const Product&, const Matrices&);
};

namespace isa_baseline {
Cores cores();
}
namespace isa_avx2 {
Cores cores();
}
namespace isa_avx512 {
Cores cores();
}

}  // namespace inflight::tensor
