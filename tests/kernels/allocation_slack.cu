// options: --slack 512
// A program that runs past the end of an allocation, and of its own variables, and as on a GPU into
// memory that nobody has.
#include "tests/kernels/kernel_test.cuh"

__device__ int global_variable[25];
__constant__ int constants[25];

__global__ void fill(int* out, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = i;
}
__global__ void fill_variable(int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) global_variable[i] = constants[i];
}

int main() {
  int* out = nullptr;
  CHECK(cudaMalloc(&out, 100));
  fill<<<1, 32>>>(out, 128);
  SAY(cudaDeviceSynchronize());
  fill_variable<<<1, 32>>>(128);
  SAY(cudaDeviceSynchronize());
}
