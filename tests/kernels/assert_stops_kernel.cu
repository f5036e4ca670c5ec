// stderr: Assertion `in\[threadIdx.x\] < 60` failed
// A failed assertion prints its place and ends the kernel with cudaErrorAssert. The error stays.
#include "tests/kernels/kernel_test.cuh"

#include <cassert>

__global__ void passes(const int* in) { assert(in[threadIdx.x] >= 0); }
__global__ void fails(const int* in) { assert(in[threadIdx.x] < 60); }

int main() {
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i == 37 ? 61 : i % 50;
  Buffer<int> source(in);
  passes<<<1, 64>>>(source);
  SAY(cudaDeviceSynchronize());
  fails<<<1, 64>>>(source);
  SAY(cudaDeviceSynchronize());
  SAY(cudaDeviceSynchronize());
  passes<<<1, 64>>>(source);
  SAY(cudaGetLastError());
  void* more;
  SAY(cudaMalloc(&more, 16));
}
