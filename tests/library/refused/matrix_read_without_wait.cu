// Sums that products may still be changing: only wait() gives access to them.
// error: no operator "\[\]" matches
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <inflight/warpgroup_product.cuh>

using inflight::swizzle;

__global__ void kernel(float* out) {
  __shared__ inflight::swizzled_tile<__half, 64, 64, swizzle::b128> a, b;
  inflight::warpgroup_sum<float, 64> sum;
  sum.clear();
  inflight::multiply_async(sum, inflight::matrix_rows(a), inflight::matrix_rows(b));
  out[threadIdx.x] = sum[0];
}
