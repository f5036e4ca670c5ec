// arch: sm_90a
// The first wait uses the parity of the phase that precedes a fresh mbarrier's first.
#include "tests/kernels/check/waiting_test.cuh"

// One block loads a tile and waits for it.
template <unsigned parity>
__global__ void load(const int* in) {
  __shared__ alignas(16) int tile[256];
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 1);
  publish_init();
  if (threadIdx.x == 0) {
    arrive_expect(&bar, 1024);
    bulk_load(tile, in, 1024, &bar);
  }
  wait_parity(&bar, parity);  // [wait]
  if (parity == 1) wait_parity(&bar, 0);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { load<1><<<1, 64>>>(Buffer<int>(1024)); }},
                   {"twin", [] { load<0><<<1, 64>>>(Buffer<int>(1024)); }}});
}
