// stderr: shared
// A store past the largest shared memory that a block can have.
#include "tests/kernels/kernel_test.cuh"

__global__ void store(int at) {
  extern __shared__ int s[];
  s[at] = 1;
}

int main() {
  store<<<1, 1, 64>>>(3);
  SAY(cudaDeviceSynchronize());
  store<<<1, 1, 64>>>(1 << 20);
  SAY(cudaDeviceSynchronize());
}
