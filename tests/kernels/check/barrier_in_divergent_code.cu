// Barriers that only some threads reach, or that threads of one warp reach at different places.
#include "tests/kernels/check/check_test.cuh"

// Half a warp meets at the first barrier, the other half at the second.
template <bool all>
__global__ void half_a_warp(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  if (all || threadIdx.x < 16) {
    // [first]
    __syncthreads();
  }
  if (threadIdx.x < 16) atomicAdd(out, 1);
  __syncthreads();  // [second]
  atomicAdd(out, 1);
}

// One half of the block meets at a named barrier of all, the other at the block's.
template <bool same>
__global__ void different_barriers() {
  if (same || threadIdx.x < 64)
    asm volatile("barrier.cta.sync.aligned 1, 128;" ::: "memory");  // [named]
  else __syncthreads();                                             // [plain]
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { half_a_warp<false><<<1, 64>>>(Buffer<int>(1)); }},
                   {"twin", [] { half_a_warp<true><<<1, 64>>>(Buffer<int>(1)); }},
                   {"different", [] { different_barriers<false><<<1, 128>>>(); }},
                   {"same", [] { different_barriers<true><<<1, 128>>>(); }}});
}
