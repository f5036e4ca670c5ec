// Sources rewritten in the middle of a pipeline, after a wait has shown that copies have read them.
// This is correct and gives no report.
#include "tests/kernels/kernel_test.cuh"

constexpr int tile = 128, tiles = 16;

__device__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

// In place: each tile comes by cp.async, two ahead, and returns by stores.
__global__ void in_place(int* data) {
  __shared__ alignas(16) int buffer[3][tile];
  const auto fetch = [&](int t) {
    if (t < tiles && threadIdx.x < tile / 4)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                       shared_address(&buffer[t % 3][threadIdx.x * 4])),
                   "l"(data + t * tile + threadIdx.x * 4)
                   : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0);
  fetch(1);
  for (int t = 0; t < tiles; ++t) {
    fetch(t + 2);
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    data[t * tile + threadIdx.x] = buffer[t % 3][tile - 1 - threadIdx.x] + 1;
    __syncthreads();
  }
}

// Bulk copies store two buffers. Each is refilled after wait_group.read.
__global__ void fill_again(int* data) {
  __shared__ alignas(16) int buffer[2][tile];
  for (int t = 0; t < tiles; ++t) {
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
    buffer[t % 2][threadIdx.x] = t * 1000 + threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(data + t * tile),
          "r"(shared_address(buffer[t % 2])), "n"(tile * 4)
          : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

int main() {
  std::vector<int> values(tile * tiles);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = int(i * 7);
  Buffer<int> data(values);
  in_place<<<1, tile>>>(data);
  std::printf("in place: %016llx\n", (unsigned long long)checksum(data.read()));
  fill_again<<<1, tile>>>(data);
  std::printf("filled again: %016llx\n", (unsigned long long)checksum(data.read()));
}
