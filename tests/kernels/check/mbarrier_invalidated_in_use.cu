// arch: sm_90a
// An mbarrier is invalidated while it is still needed.
#include "tests/kernels/check/waiting_test.cuh"

template <bool waits>
__global__ void copy_in_flight(const int* in) {
  __shared__ alignas(16) int tile[256];
  __shared__ Word bar;
  if (threadIdx.x == 0) {
    init(&bar, 1);
    arrive_expect(&bar, 1024);
    bulk_load(tile, in, 1024, &bar);  // [copy]
    if (waits) wait_parity(&bar, 0);
    inval(&bar);  // [inval]
    if (!waits) wait_parity(&bar, 0);
  }
}

// Other threads may still wait.
template <bool meets>
__global__ void used_after() {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 1);
  publish_init();
  if (threadIdx.x == 0) arrive(&bar);
  if (threadIdx.x == 32 && !meets) __nanosleep(1000);
  wait_parity(&bar, 0);  // [wait]
  if (meets) __syncthreads();
  if (threadIdx.x == 0) inval(&bar);  // [inval early]
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { copy_in_flight<false><<<1, 32>>>(Buffer<int>(1024)); }},
                   {"twin", [] { copy_in_flight<true><<<1, 32>>>(Buffer<int>(1024)); }},
                   {"used_after", [] { used_after<false><<<1, 64>>>(); }},
                   {"met_before", [] { used_after<true><<<1, 64>>>(); }}});
}
