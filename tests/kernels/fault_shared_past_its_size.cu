// software-only
// stderr: shared
// An access one element past a block's own shared memory, which a GPU allows.
#include "tests/kernels/kernel_test.cuh"

__global__ void store(int at) {
  extern __shared__ int s[];
  s[at] = 1;
}

int main() {
  store<<<1, 1, 64>>>(16);
  SAY(cudaDeviceSynchronize());
}
