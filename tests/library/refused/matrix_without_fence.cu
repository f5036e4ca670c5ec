// A product outside of a batch, which begin() opens with a fence.
// error: has no member "add"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <inflight/warpgroup_product.cuh>

using inflight::swizzle;

__global__ void kernel() {
  __shared__ inflight::swizzled_tile<__half, 64, 64, swizzle::b128> a, b;
  inflight::warpgroup_sum<float, 64> sum;
  sum.add(inflight::matrix_rows(a), inflight::matrix_rows(b));
}
