// A warp synchronises repeatedly, and one lane publishes for all: this includes what the lanes that
// synchronised know of each other.
#include <cuda/atomic>

#include "tests/kernels/check/check_test.cuh"

__device__ int data[32];
__device__ int flag;

enum class Meets { all, all_then_some, some };

template <Meets meets>
__global__ void hand_on(int* out) {
  const unsigned t = threadIdx.x;
  cuda::atomic_ref<int, cuda::thread_scope_device> raised(flag);
  if (blockIdx.x == 1) {
    if (t == 0)
      while (raised.load(cuda::memory_order_acquire) == 0) {
      }
    __syncwarp();
    out[t] = data[31 - t];  // [read]
    return;
  }
#pragma unroll 1
  for (int round = 0; round < 4; ++round) {
    data[t] += round;  // [write]
    if (meets == Meets::all || (meets == Meets::all_then_some && round == 3)) __syncwarp();
  }
  if (t < 16 && meets != Meets::all) __syncwarp(0xffff);
  if (t == 0) raised.store(1, cuda::memory_order_release);
}

// Lanes exchange their values in turns.
template <bool right>
__global__ void turns(int* out) {
  __shared__ int values[32];
  const unsigned t = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int round = 0; round < 4; ++round) {
    values[t] = sum + round;  // [put]
    __syncwarp();
    sum += values[t ^ 1];  // [take]
    if (right) __syncwarp();
    asm volatile("" ::: "memory");
  }
  out[t] = sum;
}

template <auto kernel, int blocks>
void run() {
  Buffer<int> out(32);
  kernel<<<blocks, 32>>>(out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<hand_on<Meets::some>, 2>},
                   {"twin", run<hand_on<Meets::all>, 2>},
                   {"some_twin", run<hand_on<Meets::all_then_some>, 2>},
                   {"turns", run<turns<false>, 1>},
                   {"turns_twin", run<turns<true>, 1>}});
}
