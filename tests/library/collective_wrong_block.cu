// stderr: trap.*in kernel sum
// A block_scratch for a number of threads other than the block's traps.
#include <inflight/collective_scratch.cuh>
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>

#include "tests/kernels/kernel_test.cuh"

__global__ void sum(int* out) {
  __shared__ inflight::block_scratch<int, 128> scratch;
  auto team = inflight::with_scratch(inflight::this_thread_block(), scratch);
  *out = inflight::reduce(team, 1, inflight::plus<int>());
}

int main() {
  Buffer<int> out(1);
  sum<<<1, 128>>>(out.device);
  std::printf("128 threads: %d\n", out.read()[0]);
  sum<<<1, 64>>>(out.device);
  std::printf("64 threads: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
