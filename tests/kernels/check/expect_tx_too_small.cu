// arch: sm_90a
// A phase expects fewer bytes than its copies bring, so it completes while they are in flight.
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
  wait_parity(&bar, 0);
}

template <unsigned expected>
__global__ void two_copies(const int* in) {
  __shared__ alignas(16) int tile[2][256];
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 1);
  publish_init();
  if (threadIdx.x == 0) {
    arrive_expect(&bar, expected);             // [expect one]
    bulk_load(tile[0], in, 1024, &bar);        // [first]
    bulk_load(tile[1], in + 256, 1024, &bar);  // [second]
  }
  wait_parity(&bar, 0);
  if (expected != 1024) return;
  if (threadIdx.x == 0) arrive_expect(&bar, 1024);
  wait_parity(&bar, 1);
}

// No bytes are expected at all.
template <bool expects>
__global__ void plain_arrival(const int* in) {
  __shared__ alignas(16) int tile[256];
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 1);
  publish_init();
  if (threadIdx.x == 0) {
    if (expects) expect(&bar, 1024);
    bulk_load(tile, in, 1024, &bar);  // [unexpected]
    arrive(&bar);
  }
  wait_parity(&bar, 0);
  if (expects) return;
  if (threadIdx.x == 0) arrive_expect(&bar, 1024);
  wait_parity(&bar, 1);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { one_copy<512><<<1, 64>>>(Buffer<int>(1024)); }},
                   {"twin", [] { one_copy<1024><<<1, 64>>>(Buffer<int>(1024)); }},
                   {"one_of_two", [] { two_copies<1024><<<1, 64>>>(Buffer<int>(1024)); }},
                   {"both", [] { two_copies<2048><<<1, 64>>>(Buffer<int>(1024)); }},
                   {"none", [] { plain_arrival<false><<<1, 64>>>(Buffer<int>(1024)); }},
                   {"separately", [] { plain_arrival<true><<<1, 64>>>(Buffer<int>(1024)); }}});
}
