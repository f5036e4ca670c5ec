// software-only
// stderr: deadlock
// stderr: barrier
// Half the block waits at one named barrier for threads that never come: a GPU hangs, here it is
// told who waits for what.
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
