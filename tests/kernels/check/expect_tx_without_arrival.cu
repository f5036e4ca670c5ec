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

// The thread expects more bytes after it has arrived, when the other warp's arrival may have
// completed the phase.
template <bool first>
__global__ void one_more(const int* in, int* out) {
  __shared__ alignas(16) int tiles[2][64];
  __shared__ Word bar;
  const unsigned t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  publish_init();
  if (t == 0) {
    expect(&bar, 256);
    bulk_load(tiles[0], in, 256, &bar);
    if (first) {
      expect(&bar, 256);
      bulk_load(tiles[1], in, 256, &bar);
    }
  }
  arrive(&bar);  // [arrives]
  if (t == 0 && !first) {
    expect(&bar, 256);  // [expects more]
    bulk_load(tiles[1], in, 256, &bar);
  }
  wait_parity(&bar, 0);
  out[t] = tiles[0][t] + tiles[1][t];
}

// The thread does not arrive itself, but comes before those that do.
__global__ void for_others(const int* in, int* out) {
  __shared__ alignas(16) int tile[64];
  __shared__ Word bar;
  const unsigned t = threadIdx.x;
  if (t == 0) init(&bar, 32);
  publish_init();
  if (t == 0) {
    expect(&bar, 256);
    bulk_load(tile, in, 256, &bar);
  }
  __syncthreads();
  if (t >= 32) arrive(&bar);
  wait_parity(&bar, 0);
  out[t] = tile[t];
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"mistake", [] { load<false><<<1, 64>>>(Buffer<int>(1024), 2); }},
       {"twin", [] { load<true><<<1, 64>>>(Buffer<int>(1024), 2); }},
       {"one_more", [] { one_more<false><<<1, 64>>>(Buffer<int>(64), Buffer<int>(64)); }},
       {"one_more_twin", [] { one_more<true><<<1, 64>>>(Buffer<int>(64), Buffer<int>(64)); }},
       {"for_others_twin", [] { for_others<<<1, 64>>>(Buffer<int>(64), Buffer<int>(64)); }}});
}
