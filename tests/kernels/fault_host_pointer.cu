// software-only
// stderr: 0x[0-9a-f]+ is on the host's stack, where kernels cannot access it; allocate with cudaMalloc
// A kernel is given the address of a variable on the host's stack.
#include "tests/kernels/kernel_test.cuh"

__global__ void store(int* p) { p[threadIdx.x] = 1; }

int main() {
  int local[32];
  store<<<1, 32>>>(local);
  SAY(cudaDeviceSynchronize());
}
