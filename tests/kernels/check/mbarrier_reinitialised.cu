// arch: sm_90a
// An mbarrier is initialised again while it is valid.
#include "tests/kernels/check/waiting_test.cuh"

template <bool invalidates>
__global__ void each_round(int rounds) {
  __shared__ Word bar;
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x == 0) init(&bar, blockDim.x);  // [init]
    publish_init();
    wait_token(&bar, arrive(&bar));
    __syncthreads();
    if (invalidates && threadIdx.x == 0) inval(&bar);
  }
}

template <bool one>
__global__ void by_all() {
  __shared__ Word bar;
  if (!one || threadIdx.x == 0) init(&bar, blockDim.x);  // [init by all]
  publish_init();
  wait_token(&bar, arrive(&bar));
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { each_round<false><<<1, 64>>>(2); }},
                   {"twin", [] { each_round<true><<<1, 64>>>(2); }},
                   {"by_all", [] { by_all<false><<<1, 64>>>(); }},
                   {"by_one", [] { by_all<true><<<1, 64>>>(); }}});
}
