// Two threads take two locks in opposite orders, and each spins for the other's.
#include "tests/kernels/check/check_test.cuh"

// A thread with its first lock waits until the other has its own, so every run deadlocks.
template <bool ordered>
__device__ __forceinline__ void take_both(int* a, int* b, int* held, int who) {
  if (ordered || who == 0) {
    while (atomicCAS(a, 0, who + 1) != 0) {  // [hold a]
    }
    atomicAdd(held, 1);
    while (!ordered && atomicAdd(held, 0) != 2) {
    }
    while (atomicCAS(b, 0, who + 1) != 0) {  // [want b]
    }
  } else {
    while (atomicCAS(b, 0, who + 1) != 0) {  // [hold b]
    }
    atomicAdd(held, 1);
    while (atomicAdd(held, 0) != 2) {
    }
    while (atomicCAS(a, 0, who + 1) != 0) {  // [want a]
    }
  }
  __threadfence();
}

__device__ __forceinline__ void give_back(int* a, int* b) {
  __threadfence();
  atomicExch(b, 0);
  atomicExch(a, 0);
}

template <bool ordered>
__global__ void blocks(int* locks, int* sum) {
  if (threadIdx.x != 0) return;
  take_both<ordered>(&locks[0], &locks[32], &locks[64], blockIdx.x);
  ++*sum;
  give_back(&locks[0], &locks[32]);
}

template <bool ordered>
__global__ void warps(int* sum) {
  __shared__ int a, b, held;
  if (threadIdx.x == 0) a = b = held = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  take_both<ordered>(&a, &b, &held, threadIdx.x / 32);
  ++*sum;
  give_back(&a, &b);
}

// The lock's holder waits at a barrier for the thread that spins for the lock.
template <bool right>
__global__ void held_at_barrier(int* lock, int* sum) {
  if (threadIdx.x == 0)
    while (atomicExch(lock, 1) != 0) {  // [hold]
    }
  __syncthreads();
  if (right && threadIdx.x == 0) atomicExch(lock, 0);
  if (threadIdx.x == 32) {
    while (atomicExch(lock, 1) != 0) {  // [want]
    }
    ++*sum;
    atomicExch(lock, 0);
  }
  // [meet]
  __syncthreads();
}

template <auto kernel>
void on_locks(int grid, int threads) {
  Buffer<int> locks(96), sum(1);
  CHECK(cudaMemset(locks, 0, 96 * sizeof(int)));
  CHECK(cudaMemset(sum, 0, sizeof(int)));
  kernel<<<grid, threads>>>(locks, sum);
  cudaDeviceSynchronize();
}

template <bool ordered>
void on_warps() {
  Buffer<int> sum(1);
  CHECK(cudaMemset(sum, 0, sizeof(int)));
  warps<ordered><<<1, 64>>>(sum);
  cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { on_locks<blocks<false>>(2, 32); }},
                   {"twin", [] { on_locks<blocks<true>>(2, 32); }},
                   {"warps", on_warps<false>},
                   {"warps_twin", on_warps<true>},
                   {"at_barrier", [] { on_locks<held_at_barrier<false>>(1, 64); }},
                   {"at_barrier_twin", [] { on_locks<held_at_barrier<true>>(1, 64); }}});
}
