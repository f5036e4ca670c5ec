// arch: sm_90a
#include <cuda_bf16.h>

#include <cstdio>
#include <inflight/tensor_copy.cuh>
#include <inflight/warpgroup_product.cuh>

constexpr int rows = 64, columns = 128, depth = 192, step = 64;
using number = __nv_bfloat16;
using tile_a = inflight::swizzled_tile<number, rows, step, inflight::swizzle::b128>;
using tile_b = inflight::swizzled_tile<number, columns, step, inflight::swizzle::b128>;

// c(m, n) = the sum over k of a(m, k) * b(n, k), by one warpgroup.
__global__ void __launch_bounds__(128)
    multiply(float* c, const __grid_constant__ inflight::tile_map<tile_a> map_a,
             const __grid_constant__ inflight::tile_map<tile_b> map_b) {
  __shared__ tile_a a;
  __shared__ tile_b b;
  __shared__ inflight::barrier<> full;
  if (threadIdx.x == 0) full.init(1);
  __syncthreads();

  inflight::warpgroup_sum<float, columns> sum;  // 64 x 128, spread over the 128 threads
  sum.clear();
  for (int k = 0; k < depth / step; ++k) {
    if (threadIdx.x == 0) {
      inflight::transaction copies(full);
      inflight::copy_async(a, map_a, {k * step, 0}, copies);
      inflight::copy_async(b, map_b, {k * step, 0}, copies);
      copies.arrive();
    }
    full.wait_parity(k % 2);
    inflight::multiply_async(sum, inflight::matrix_rows(a), inflight::matrix_rows(b));
    inflight::products_wait();  // the tiles may be filled again, once all warps are here
    __syncthreads();
  }
  sum.wait().each([&](int row, int column, float& value) { c[row * columns + column] = value; });
}

int main() {
  number *a, *b;
  float* c;
  cudaMallocManaged(&a, rows * depth * sizeof(number));
  cudaMallocManaged(&b, columns * depth * sizeof(number));
  cudaMallocManaged(&c, rows * columns * sizeof(float));
  for (int i = 0; i < rows * depth; ++i) a[i] = __float2bfloat16(float(i % 7 - 3));
  for (int i = 0; i < columns * depth; ++i) b[i] = __float2bfloat16(float(i % 5 - 2));
  const auto map_a = inflight::make_tensor_map<tile_a>(a, {depth, rows}).value();
  const auto map_b = inflight::make_tensor_map<tile_b>(b, {depth, columns}).value();
  multiply<<<1, 128>>>(c, map_a, map_b);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int wrong = 0;
  for (int m = 0; m < rows; ++m)
    for (int n = 0; n < columns; ++n) {
      int wanted = 0;
      for (int k = 0; k < depth; ++k)
        wanted += ((m * depth + k) % 7 - 3) * ((n * depth + k) % 5 - 2);
      wrong += c[m * columns + n] != float(wanted);
    }
  std::printf("%d of %d sums wrong\n", wrong, rows * columns);
}
