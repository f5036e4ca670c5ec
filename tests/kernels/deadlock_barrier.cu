// software-only
// stderr: deadlock
// stderr: barrier
// Half the block waits at a named barrier for threads that never arrive. A GPU hangs. Here a report
// says which threads wait, and where.
#include "tests/kernels/kernel_test.cuh"

__global__ void wait(int* out) {
  if (threadIdx.x < 32) asm volatile("barrier.cta.sync 1, 64;" ::: "memory");
  else asm volatile("barrier.cta.sync 2, 64;" ::: "memory");
  out[threadIdx.x] = 1;
}

int main() {
  Buffer<int> out(64);
  wait<<<1, 64>>>(out);
  SAY(cudaDeviceSynchronize());
}
