// Loops that read and write the same bytes, with lanes far apart. Each round is checked if another
// access has come between.
#include <cuda_pipeline.h>

#include "tests/kernels/check/check_test.cuh"

constexpr int stride = 32;

// A copy is issued between two stores of its source.
template <bool right>
__global__ void copies_between(int* data) {
  __shared__ int copied[32];
  int* const mine = &data[threadIdx.x * stride];
#pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    *mine = round;                                                                     // [store]
    if (round == 1) __pipeline_memcpy_async(&copied[threadIdx.x], mine, sizeof(int));  // [copy]
    if (right) {
      __pipeline_commit();
      __pipeline_wait_prior(0);
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  data[threadIdx.x * stride + 1] = copied[threadIdx.x];
}

// Two warps synchronise in some rounds, and swap elements after the last one.
template <bool right>
__global__ void changes_places(int* data) {
  const unsigned warp = threadIdx.x / 32;
#pragma unroll 1
  for (int round = 0; round < 4; ++round) {
    if (round == 2 || (right && round == 3)) __syncthreads();
    const unsigned at = round == 3 ? 1 - warp : warp;
    data[(at * 32 + threadIdx.x % 32) * stride] += round + static_cast<int>(threadIdx.x);  // [add]
  }
}

template <auto kernel, int threads>
void run() {
  Buffer<int> data(2 * 32 * stride);
  kernel<<<1, threads>>>(data);
  data.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"copied", run<copies_between<false>, 32>},
                   {"copied_twin", run<copies_between<true>, 32>},
                   {"moved", run<changes_places<false>, 64>},
                   {"moved_twin", run<changes_places<true>, 64>}});
}
