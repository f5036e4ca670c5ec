// arch: sm_90a
// Bytes are expected, but no thread arrives: the phase never completes although all bytes came
// (tilelang#2566).
#include "tests/kernels/check/waiting_test.cuh"

template <bool arrives>
__global__ void load(const int* in, int rounds) {
  __shared__ alignas(16) int tile[256];
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 1);
  publish_init();
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x == 0) {
      expect(&bar, 1024);  // [expect]
      bulk_load(tile, in, 1024, &bar);
      if (arrives) arrive(&bar);
    }
    wait_parity(&bar, i & 1);  // [wait]
    __syncthreads();
  }
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { load<false><<<1, 64>>>(Buffer<int>(1024), 2); }},
                   {"twin", [] { load<true><<<1, 64>>>(Buffer<int>(1024), 2); }}});
}
