// The fast cores, compiled once an instruction set.
#pragma once
#include "gpu/tensor/product.hpp"

namespace inflight::tensor {

// Does the core compute this product? If not, the model does.
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
