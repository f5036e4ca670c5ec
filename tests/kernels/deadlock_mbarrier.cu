// software-only
// stderr: deadlock
// options: --timeout 20
// An mbarrier that expects one arrival more than there are threads never completes.
#include "tests/kernels/kernel_test.cuh"

#include <cuda/barrier>

__global__ void wait(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, 33);
  __syncthreads();
  bar.arrive_and_wait();
  out[threadIdx.x] = 1;
}

int main() {
  Buffer<int> out(32);
  wait<<<1, 32>>>(out);
  SAY(cudaDeviceSynchronize());
}
