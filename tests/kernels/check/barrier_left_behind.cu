// A barrier in a loop that some threads leave for good while the others come to it again: those
// that left wait elsewhere, or go on and end.
#include <cooperative_groups.h>

#include "tests/kernels/check/waiting_test.cuh"

enum class Behind { polls, mbarrier, ends };

// Warp 0 leaves one round before the others.
template <Behind behind, bool same>
__global__ void leave_early(int* data, int* flag, int rounds) {
  __shared__ Word bar;
  const unsigned t = threadIdx.x, warp = t / 32;
  if (t == 0) init(&bar, blockDim.x);
  publish_init();
  int sum = 0;
  const int own = same || warp == 0 ? rounds : rounds + 1;
#pragma unroll 1
  for (int i = 0; i < own; ++i) {
    sum += i;
    // [in the loop]
    __syncthreads();
  }
  if (behind == Behind::polls && warp != 0 && t % 32 == 0) atomicAdd(flag, 1);
  if (behind == Behind::polls && warp == 0)
    while (atomicAdd(flag, 0) + 1 < static_cast<int>(blockDim.x / 32))  // [polls]
      ;
  if (behind == Behind::mbarrier) {
    const std::uint64_t token = arrive(&bar);
    // [waits]
    while (!try_token(&bar, token)) {
    }
  }
  data[t] = sum;
}

// Two warps meet at a barrier of their own; one of them leaves.
template <bool same>
__global__ void leave_named(int* data, int* flag, int rounds) {
  const unsigned t = threadIdx.x, warp = t / 32;
  int sum = 0;
  const int own = same || warp == 0 ? rounds : rounds + 1;
  if (warp < 2) {
#pragma unroll 1
    for (int i = 0; i < own; ++i) {
      sum += i;
      // [named]
      asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    if (warp == 1 && t % 32 == 0) atomicExch(flag, 1);
    if (warp == 0)
      while (atomicAdd(flag, 0) == 0)  // [polls for it]
        ;
  }
  data[t] = sum;
}

// A thread breaks out of the middle of a loop.
__global__ void break_out(int* data, const int* rounds) {
  __shared__ int tile[128];
  const unsigned t = threadIdx.x;
  int sum = 0;
  tile[t] = 0;
#pragma unroll 1
  for (int i = 0;; ++i) {
    if (i == rounds[t]) break;
    // [breaks]
    __syncthreads();
    sum += tile[t] + i;
  }
  data[t] = sum;
}

// Whether any thread goes on is the same for all.
__global__ void go_on_together(int* data, const int* rounds) {
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (int i = 0; __syncthreads_or(i < rounds[t]); ++i)
    if (i < rounds[t]) sum += i;
  data[t] = sum;
}

// A warp waits for the others before its own last barrier. An outer loop leads back to it.
__global__ void come_back(int* data, int* flag, int rounds) {
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    if (t == 0)
      while (atomicAdd(flag, 0) < (i + 1) * static_cast<int>(blockDim.x / 32 - 1))
        ;
    else if (t >= 32 && t % 32 == 0) atomicAdd(flag, 1);
    __syncthreads();
    sum += i;
  }
  data[t] = sum;
}

template <Behind behind, bool same>
void leave() {
  Buffer<int> flag(1);
  leave_early<behind, same><<<1, 128>>>(Buffer<int>(128), flag, 3);
  cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  const auto rounds_of = [](int first, int others) {
    std::vector<int> rounds(128, others);
    for (int i = 0; i < 32; ++i) rounds[i] = first;
    return rounds;
  };
  static const std::vector<int> different = rounds_of(2, 4), equal = rounds_of(3, 3);
  return run_case(
      argc, argv,
      {{"mistake", leave<Behind::polls, false>},
       {"twin", leave<Behind::polls, true>},
       {"mbarrier", leave<Behind::mbarrier, false>},
       {"mbarrier_twin", leave<Behind::mbarrier, true>},
       {"ends", leave<Behind::ends, false>},
       {"ends_twin", leave<Behind::ends, true>},
       {"named",
        [] {
          Buffer<int> flag(1);
          leave_named<false><<<1, 96>>>(Buffer<int>(96), flag, 3);
          cudaDeviceSynchronize();
        }},
       {"named_twin",
        [] {
          Buffer<int> flag(1);
          leave_named<true><<<1, 96>>>(Buffer<int>(96), flag, 3);
          cudaDeviceSynchronize();
        }},
       {"breaks", [] { break_out<<<1, 128>>>(Buffer<int>(128), Buffer<int>(different)); }},
       {"breaks_twin", [] { break_out<<<1, 128>>>(Buffer<int>(128), Buffer<int>(equal)); }},
       {"together_twin",
        [] { go_on_together<<<1, 128>>>(Buffer<int>(128), Buffer<int>(different)); }},
       {"comes_back_twin", [] {
          Buffer<int> flag(1);
          come_back<<<1, 128>>>(Buffer<int>(128), flag, 3);
          cudaDeviceSynchronize();
        }}});
}
