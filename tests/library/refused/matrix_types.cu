// bf16 by f16.
// error: No matrix instruction multiplies these types
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <inflight/warpgroup_product.cuh>

using inflight::swizzle;

__global__ void kernel() {
  __shared__ inflight::swizzled_tile<__half, 64, 64, swizzle::b128> a;
  __shared__ inflight::swizzled_tile<__nv_bfloat16, 64, 64, swizzle::b128> b;
  inflight::warpgroup_sum<float, 64> sum;
  inflight::multiply_async(sum, inflight::matrix_rows(a), inflight::matrix_rows(b));
}
