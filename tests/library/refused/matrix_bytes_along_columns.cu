// Only factors of 16-bit elements are transposed.
// error: Only factors of 16-bit elements may lie transposed in shared memory
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <inflight/warpgroup_product.cuh>

using inflight::swizzle;

__global__ void kernel() {
  __shared__ inflight::swizzled_tile<float, 32, 32, swizzle::b128> a;
  inflight::matrix_columns(a);
}
