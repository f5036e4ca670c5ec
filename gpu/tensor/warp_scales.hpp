// Products of a warp whose rows of A and columns of B have scales: mma.sync with .block_scale. The
// sums are those that MMA-Sim (arXiv 2511.10909) describes for RTX Blackwell. No chip was asked.
#pragma once
#include <cstdint>

#include "gpu/tensor/product.hpp"

namespace inflight::tensor {

struct WarpScales {
  bool is_ue4m3 = false;  // else ue8m0
  int blocks = 1;         // scales of a row or column, one for each k/blocks elements
};

struct WarpScaledMatrices {
  const void* a;                // m rows of k elements, one a byte or, `packed`, two
  const void* b;                // n columns of k elements
  const std::uint8_t* scale_a;  // m rows of `blocks` scales
  const std::uint8_t* scale_b;  // n columns of `blocks` scales
  const std::uint32_t* c;       // n columns of m f32
  std::uint32_t* d;
  bool packed = false;
};

// `product` is dense, with f32 accumulators. Packed elements are e2m1.
void multiply_scaled(const Product& product, const WarpScales& scales,
                     const WarpScaledMatrices& matrices);

}  // namespace inflight::tensor
