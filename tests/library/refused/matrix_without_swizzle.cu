// A factor's tile in the plain layout, which no descriptor describes.
// error: A factor's tile has a swizzle: b128, b64 or b32
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <inflight/warpgroup_product.cuh>

using inflight::swizzle;

__global__ void kernel() {
  __shared__ inflight::swizzled_tile<__half, 64, 64> a;
  inflight::matrix_rows(a);
}
