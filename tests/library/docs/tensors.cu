// arch: sm_90a
#include <cstdio>
#include <inflight/copy.cuh>
#include <inflight/tensor_copy.cuh>

constexpr int width = 100, height = 70;
using tile = inflight::swizzled_tile<float, 32, 32, inflight::swizzle::b128>;

// Adds up the columns of a 32 x 32 box of a matrix; what lies outside of the matrix is zero.
__global__ void columns(float* sums, const __grid_constant__ inflight::tile_map<tile> matrix) {
  __shared__ tile box;
  __shared__ inflight::barrier<> ready;
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  if (threadIdx.x == 0) {
    ready.init(1);
    inflight::transaction copies(ready);
    inflight::copy_async(box, matrix, {x, y}, copies);  // column first; counts the bytes
    copies.arrive();
  }
  __syncthreads();
  ready.wait_parity(0);
  float sum = 0;
  for (int row = 0; row < 32; ++row) sum += box(row, threadIdx.x);
  if (x + threadIdx.x < width) atomicAdd(&sums[x + threadIdx.x], sum);
}

int main() {
  float *matrix, *sums;
  cudaMallocManaged(&matrix, width * height * sizeof(float));
  cudaMallocManaged(&sums, width * sizeof(float));
  for (int i = 0; i < width * height; ++i) matrix[i] = float(i % width + 1);
  for (int i = 0; i < width; ++i) sums[i] = 0;
  auto map = inflight::make_tensor_map<tile>(matrix, {width, height});
  if (!map) return std::puts(map.error().message().c_str()), 1;
  columns<<<dim3((width + 31) / 32, (height + 31) / 32), 32>>>(sums, *map);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  std::printf("%g %g ... %g\n", sums[0], sums[1], sums[width - 1]);

  // Rows of 99 floats are 396 bytes, which no tensor copy can step by.
  auto odd = inflight::make_tensor_map<tile>(matrix, {width - 1, height});
  std::puts(odd.error().message().c_str());
}
