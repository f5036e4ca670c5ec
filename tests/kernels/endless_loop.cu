// software-only
// options: --timeout 1
// stderr: timeout|time
// A loop without end is ended by --timeout.
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
