// stderr: trap
// A trap ends the kernel with its own error.
#include "tests/kernels/kernel_test.cuh"

__global__ void stop(int at) {
  if (threadIdx.x == at) __trap();
}

int main() {
  stop<<<1, 32>>>(99);
  SAY(cudaDeviceSynchronize());
  stop<<<1, 32>>>(5);
  SAY(cudaDeviceSynchronize());
}
