// software-only
// options: --timeout 1
// stderr: timeout|time
// --timeout ends an endless loop.
#include "tests/kernels/kernel_test.cuh"

__global__ void loop(volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  Buffer<int> flag(1);
  loop<<<1, 32>>>(flag);
  SAY(cudaDeviceSynchronize());
}
