// options: --slack 512
// A program that runs past its allocation's end and, as on a GPU, into memory that nobody has.
#include "tests/kernels/kernel_test.cuh"

__global__ void fill(int* out, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = i;
}

int main() {
  int* out = nullptr;
  CHECK(cudaMalloc(&out, 100));
  fill<<<1, 32>>>(out, 128);
  SAY(cudaDeviceSynchronize());
}
