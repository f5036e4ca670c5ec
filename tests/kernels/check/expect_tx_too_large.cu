// arch: sm_90a
// A phase expects more bytes than its copies bring, so it never completes (triton#9046).
#include "tests/kernels/check/waiting_test.cuh"

template <unsigned expected>
__global__ void one_copy(const int* in) {
  __shared__ alignas(16) int tile[256];
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 1);
  publish_init();
  if (threadIdx.x == 0) {
    arrive_expect(&bar, expected);    // [expect]
    bulk_load(tile, in, 1024, &bar);  // [copy]
  }
  wait_parity(&bar, 0);  // [wait]
}

// The second of two rounds expects a tile for which no copy is issued.
template <unsigned rounds>
__global__ void one_copy_less(const int* in, int copies) {
  __shared__ alignas(16) int tile[2][256];
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 1);
  publish_init();
  for (unsigned i = 0; i < rounds; ++i) {
    if (threadIdx.x == 0) {
      arrive_expect(&bar, 2048);           // [expect two]
      bulk_load(tile[0], in, 1024, &bar);  // [first]
      if (copies > 1 || i == 0) bulk_load(tile[1], in + 256, 1024, &bar);
    }
    wait_parity(&bar, i & 1);  // [wait two]
    __syncthreads();
  }
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { one_copy<2048><<<1, 64>>>(Buffer<int>(1024)); }},
                   {"twin", [] { one_copy<1024><<<1, 64>>>(Buffer<int>(1024)); }},
                   {"copy_missing", [] { one_copy_less<2><<<1, 64>>>(Buffer<int>(1024), 1); }},
                   {"copy_there", [] { one_copy_less<2><<<1, 64>>>(Buffer<int>(1024), 2); }}});
}
