// software-only
// stderr: freed
// An access to freed memory, which a GPU may allow.
#include "tests/kernels/kernel_test.cuh"

__global__ void store(int* p) { p[threadIdx.x] = 1; }

int main() {
  int* p;
  CHECK(cudaMalloc(&p, 128));
  CHECK(cudaFree(p));
  store<<<1, 32>>>(p);
  SAY(cudaDeviceSynchronize());
}
