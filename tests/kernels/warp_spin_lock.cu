// A spin lock contended by the lanes of one warp, and tickets: every lane makes progress.
#include "tests/kernels/kernel_test.cuh"

__device__ int lock_word, counter, next_ticket, serving;

__global__ void spin(int* out) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock_word, 0, 1) == 0) {
      __threadfence();
      int seen = *(volatile int*)&counter;
      *(volatile int*)&counter = seen + 1;
      __threadfence();
      atomicExch(&lock_word, 0);
      done = true;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

// The naive form, which deadlocks on hardware without independent thread scheduling.
__global__ void naive() {
  while (atomicCAS(&lock_word, 0, 1) != 0) {
  }
  __threadfence();
  *(volatile int*)&counter += 1;
  __threadfence();
  atomicExch(&lock_word, 0);
}

__global__ void ticket(int* order) {
  int mine = atomicAdd(&next_ticket, 1);
  while (*(volatile int*)&serving != mine) {
  }
  order[mine] = mine;
  __threadfence();
  atomicAdd(&serving, 1);
}

int value_of(const int& symbol) {
  int value = 0;
  CHECK(cudaMemcpyFromSymbol(&value, symbol, sizeof value));
  return value;
}

int main() {
  Buffer<int> out(4), order(64);
  spin<<<4, 64>>>(out);
  print("spin", out.read());
  std::printf("counter: %d\n", value_of(counter));
  naive<<<2, 96>>>();
  CHECK(cudaDeviceSynchronize());
  std::printf("counter: %d\n", value_of(counter));
  ticket<<<1, 64>>>(order);
  print_checksum("order", order.read());
  std::printf("serving: %d\n", value_of(serving));
}
