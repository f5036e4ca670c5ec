// arch: sm_90a
// An mbarrier expects more arrivals than there are threads to arrive.
#include <cuda/barrier>

#include "tests/kernels/check/waiting_test.cuh"

__global__ void all_arrive(unsigned count) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, count);  // [init]
  publish_init();
  const std::uint64_t token = arrive(&bar);  // [arrive]
  wait_token(&bar, token);                   // [wait]
}

// One thread of each consumer warp frees the slot, but the mbarrier expects all threads.
__global__ void slots(unsigned count, int rounds) {
  __shared__ Word full, empty;
  if (threadIdx.x == 0) {
    init(&full, 1);
    init(&empty, count);  // [init empty]
  }
  publish_init();
  if (threadIdx.x < 32) {
    for (int i = 0; i < rounds; ++i) {
      wait_parity(&empty, (i & 1) ^ 1);  // [wait empty]
      if (threadIdx.x == 0) arrive(&full);
    }
  } else {
    for (int i = 0; i < rounds; ++i) {
      wait_parity(&full, i & 1);                  // [wait full]
      if (threadIdx.x % 32 == 0) arrive(&empty);  // [free]
    }
  }
}

__global__ void library(unsigned count) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, count);
  __syncthreads();
  bar.arrive_and_wait();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { all_arrive<<<1, 64>>>(65); }},
                   {"twin", [] { all_arrive<<<1, 64>>>(64); }},
                   {"slots_all", [] { slots<<<1, 128>>>(96, 3); }},
                   {"slots_warps", [] { slots<<<1, 128>>>(3, 3); }},
                   {"library_twin", [] { library<<<1, 64>>>(64); }}});
}
