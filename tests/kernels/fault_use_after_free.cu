// software-only
// stderr: freed
// Memory that was freed, which a GPU may let pass.
#include "tests/kernels/kernel_test.cuh"

__global__ void store(int* p) { p[threadIdx.x] = 1; }

int main() {
  int* p;
  CHECK(cudaMalloc(&p, 128));
  CHECK(cudaFree(p));
  store<<<1, 32>>>(p);
  SAY(cudaDeviceSynchronize());
}
