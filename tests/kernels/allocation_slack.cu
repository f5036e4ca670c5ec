// options: --slack 512
// A program that accesses memory past the end of an allocation, of its variables and of its shared
// memory and, as on a GPU, memory of no allocation.
#include "tests/kernels/kernel_test.cuh"

__device__ int global_variable[25];
__constant__ int constants[25];

__global__ void fill(int* out, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = i;
}
__global__ void fill_variable(int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) global_variable[i] = constants[i];
}
// In a block of 100 bytes. An H200 allocates shared memory in units of 128.
__global__ void read_shared(int* out) {
  __shared__ int few[25];
  if (threadIdx.x < 25) few[threadIdx.x] = 1;
  __syncthreads();
  volatile int* all = few;
  out[threadIdx.x] = all[threadIdx.x];
}

int main() {
  int* out = nullptr;
  CHECK(cudaMalloc(&out, 100));
  fill<<<1, 32>>>(out, 128);
  SAY(cudaDeviceSynchronize());
  fill_variable<<<1, 32>>>(128);
  SAY(cudaDeviceSynchronize());
  read_shared<<<1, 32>>>(out);
  SAY(cudaDeviceSynchronize());
}
