// Factors that do not fit the sums, nor each other.
// error: Factor A of a warpgroup has 64 rows
// error: Factor B has as many rows, or transposed columns, as the sums have columns
// error: Both factors are equally long along the sum
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <inflight/warpgroup_product.cuh>

using inflight::swizzle;

__global__ void kernel() {
  __shared__ inflight::swizzled_tile<__half, 128, 64, swizzle::b128> a, b;
  __shared__ inflight::swizzled_tile<__half, 64, 32, swizzle::b64> c;
  inflight::warpgroup_sum<float, 64> sum;
  inflight::multiply_async(sum, inflight::matrix_rows(a), inflight::matrix_rows<64>(b));
  inflight::multiply_async(sum, inflight::matrix_rows<64>(a), inflight::matrix_rows(b));
  inflight::multiply_async(sum, inflight::matrix_rows<64>(a), inflight::matrix_rows(c));
}
