// software-only
// stderr: a GPU may refuse kernel eliminate\(float\*\) in blocks of 1024 threads
// A matrix of 13 x 13 in each thread's registers. ptxas uses 255, and 1024 threads can have 64
// each: a GPU returns cudaErrorLaunchOutOfResources for the second launch. Here it runs, with a
// warning.
#include "tests/kernels/kernel_test.cuh"

constexpr int size = 13;

__global__ void eliminate(float* matrices) {
  float a[size][size];
#pragma unroll
  for (int i = 0; i < size; ++i)
#pragma unroll
    for (int j = 0; j < size; ++j) a[i][j] = matrices[(i * size + j) * 1024 + threadIdx.x];
#pragma unroll
  for (int k = 0; k < size; ++k)
#pragma unroll
    for (int i = k + 1; i < size; ++i)
#pragma unroll
      for (int j = size - 1; j >= k; --j) a[i][j] = a[i][j] * a[k][k] - a[i][k] * a[k][j];
#pragma unroll
  for (int i = 0; i < size; ++i)
#pragma unroll
    for (int j = 0; j < size; ++j) matrices[(i * size + j) * 1024 + threadIdx.x] = a[i][j];
}

int main() {
  Buffer<float> matrices(size * size * 1024);
  eliminate<<<1, 256>>>(matrices);
  SAY(cudaGetLastError());
  eliminate<<<1, 1024>>>(matrices);
  SAY(cudaGetLastError());
  SAY(cudaDeviceSynchronize());
}
