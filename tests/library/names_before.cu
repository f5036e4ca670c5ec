// flags: -Wno-deprecated-declarations -diag-suppress=1444
// A program that was written with names of before version 0.1.
#include <inflight/old_names.cuh>

#include "tests/kernels/kernel_test.cuh"

__global__ void copy(int* out, const int* in) {
  __shared__ alignas(16) int tile[64];
  constexpr inflight::cache kind = inflight::cache::global;
  constexpr inflight::prefetch level = inflight::prefetch::b64;
  if (threadIdx.x < 16)
    inflight::cp_async<16, kind, level>(tile + 4 * threadIdx.x, in + 4 * threadIdx.x);
  inflight::cp_async_commit();
  inflight::cp_async_wait<0>();
  __syncthreads();
  __shared__ inflight::barrier<> mbarrier;
  if (threadIdx.x == 0) mbarrier.init(blockDim.x);
  __syncthreads();
  inflight::phase waiter(mbarrier);
  mbarrier.arrive();
  waiter.wait();
  out[threadIdx.x] = tile[63 - threadIdx.x] + int(waiter.parity());
}

int main() {
  int* data;
  CHECK(cudaMallocManaged(&data, 128 * sizeof(int)));
  for (int i = 0; i < 64; ++i) data[i] = i;
  inflight::launch shape;
  shape.block = {64, 1, 1};
  CHECK(inflight::launch_kernel(copy, shape, data + 64, data));
  CHECK(cudaDeviceSynchronize());
  bool right = true;
  for (int i = 0; i < 64; ++i) right = right && data[64 + i] == 63 - i + 1;
  std::printf("names of before: %s\n", right ? "right" : "WRONG");
}
