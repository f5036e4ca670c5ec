// CUB's device scan of 2^28 ints beside cudaMemcpyAsync, as `grid_scan --measure` does it for
// examples/grid_scan.cu.
//
//   nvcc -std=c++17 -O3 -arch=sm_90a -I. bench/library/cub_scan.cu -o cub_scan
#include <cub/device/device_scan.cuh>

#include "examples/measure.cuh"

int main() {
  const std::size_t n = std::size_t{1} << 28;
  int *in = device_copy(std::vector<int>(n, 1)), *out = device_copy(std::vector<int>(n));
  void* room = nullptr;
  std::size_t bytes = 0;
  CHECK(cub::DeviceScan::InclusiveSum(room, bytes, in, out, n));
  CHECK(cudaMalloc(&room, bytes));
  measure_beside_copy("CUB's scan", out, in, n * sizeof(int),
                      [&] { CHECK(cub::DeviceScan::InclusiveSum(room, bytes, in, out, n)); });
}
