// Products of a warpgroup on sm_80.
// arch: sm_80
// error: need sm_90a: compile with -arch=sm_90a. For sm_80 there is multiply_add
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <inflight/warpgroup_product.cuh>

using inflight::swizzle;

__global__ void kernel() {
  __shared__ inflight::swizzled_tile<__half, 64, 64, swizzle::b128> a, b;
  inflight::warpgroup_sum<float, 64> sum;
  inflight::multiply_async(sum, inflight::matrix_rows(a), inflight::matrix_rows(b));
}
