// Barriers that only some threads reach, or that threads of one warp reach at different places.
#include "tests/kernels/check/check_test.cuh"

// Half a warp waits at the first barrier, the other half at the second.
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

// Half of the block waits at a named barrier for all, the other half at the block's.
template <bool same>
__global__ void different_barriers() {
  if (same || threadIdx.x < 64)
    asm volatile("barrier.cta.sync.aligned 1, 128;" ::: "memory");  // [named]
  else __syncthreads();                                             // [plain]
}

// Some threads skip the barrier and exit, which releases the others.
template <bool all>
__global__ void go_round(int* data, unsigned n) {
  __shared__ int tile[128];
  const unsigned t = threadIdx.x;
  if (t < n) {
    tile[t] = data[t];
    if (!all) {
      // [gone round]
      __syncthreads();
    }
  }
  if (all) __syncthreads();
  if (t < n) data[t] = tile[n - 1 - t];
  data[128 + t] = t;
}

// A thread that returns early takes no part.
__global__ void return_early(int* data, unsigned n) {
  __shared__ int tile[128];
  const unsigned t = threadIdx.x;
  if (t >= n) return;
  tile[t] = data[t];
  __syncthreads();
  data[t] = tile[n - 1 - t];
}

// No barrier orders the writes of a thread that then returns.
template <bool all>
__global__ void write_and_return(int* data) {
  __shared__ int tile[128];
  const unsigned t = threadIdx.x;
  tile[t] = t;  // [writes and ends]
  if (!all && t >= 48) return;
  __syncthreads();
  data[t] = tile[127 - t];  // [reads what it wrote]
}

// One warp has a barrier more than the other, whose end completes its last one.
template <bool more>
__global__ void one_more(int* data) {
  __shared__ int tile[64];
  const unsigned t = threadIdx.x;
  tile[t] = t;
  if (t < 32) {
    // [one more]
    if (more) __syncthreads();
    __syncwarp();
    data[t] = tile[31 - t];
  }
  // [last]
  __syncthreads();
}

// Each warp has as many rounds as it has work, and ends.
__global__ void own_rounds(int* data, int rounds) {
  const int own = rounds << threadIdx.x / 32;
#pragma unroll 4
  for (int i = 0; i < own; ++i) {
    data[threadIdx.x] += i;
    __syncthreads();
  }
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"mistake", [] { half_a_warp<false><<<1, 64>>>(Buffer<int>(1)); }},
       {"twin", [] { half_a_warp<true><<<1, 64>>>(Buffer<int>(1)); }},
       {"different", [] { different_barriers<false><<<1, 128>>>(); }},
       {"same", [] { different_barriers<true><<<1, 128>>>(); }},
       {"gone_round", [] { go_round<false><<<1, 128>>>(Buffer<int>(256), 40); }},
       {"gone_round_twin", [] { go_round<true><<<1, 128>>>(Buffer<int>(256), 40); }},
       {"returns_early", [] { return_early<<<1, 128>>>(Buffer<int>(128), 40); }},
       {"writes_and_returns", [] { write_and_return<false><<<1, 128>>>(Buffer<int>(128)); }},
       {"writes_and_returns_twin", [] { write_and_return<true><<<1, 128>>>(Buffer<int>(128)); }},
       {"one_more", [] { one_more<true><<<1, 64>>>(Buffer<int>(64)); }},
       {"one_more_twin", [] { one_more<false><<<1, 64>>>(Buffer<int>(64)); }},
       {"own_rounds_twin", [] { own_rounds<<<1, 96>>>(Buffer<int>(96), 3); }}});
}
