// arch: sm_90a
// A loop waits for the same parity in each round, so every other wait returns at once.
#include "tests/kernels/check/waiting_test.cuh"

template <bool flips>
__global__ void one_barrier(const int* in, int rounds) {
  __shared__ alignas(16) int tile[256];
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 1);
  publish_init();
  unsigned parity = 0;
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x == 0) {
      arrive_expect(&bar, 1024);  // [expect]
      bulk_load(tile, in, 1024, &bar);
    }
    wait_parity(&bar, parity);  // [wait]
    if (flips) parity ^= 1;
    __syncthreads();
  }
  if (!flips) wait_parity(&bar, 1);
}

// A consumer that never flips the parity, and a producer that does.
template <bool flips>
__global__ void roles(const int* in, int rounds) {
  __shared__ alignas(16) int tile[2][256];
  __shared__ Word full[2], empty[2];
  if (threadIdx.x == 0)
    for (int s = 0; s < 2; ++s) {
      init(&full[s], 1);
      init(&empty[s], 1);
    }
  publish_init();
  if (threadIdx.x == 0) {
    for (int i = 0; i < rounds; ++i) {
      wait_parity(&empty[i % 2], (i / 2 & 1) ^ 1);
      arrive_expect(&full[i % 2], 1024);  // [fill]
      bulk_load(tile[i % 2], in, 1024, &full[i % 2]);
    }
  } else if (threadIdx.x == 32) {
    for (int i = 0; i < rounds; ++i) {
      wait_parity(&full[i % 2], flips ? i / 2 & 1 : 0);  // [wait full]
      arrive(&empty[i % 2]);
    }
  }
}

// Four consumers that never flip: the first report is that they release a stage that is not full.
template <bool flips>
__global__ void handed_back(const int* in, int rounds) {
  __shared__ alignas(16) int tile[3][256];
  __shared__ Word full[3], empty[3];
  if (threadIdx.x == 0)
    for (int s = 0; s < 3; ++s) {
      init(&full[s], 1);
      init(&empty[s], 4);
    }
  publish_init();
  if (threadIdx.x == 128) {
    for (int i = 0; i < rounds; ++i) {
      wait_parity(&empty[i % 3], (i / 3 & 1) ^ 1);
      arrive_expect(&full[i % 3], 1024);
      bulk_load(tile[i % 3], in, 1024, &full[i % 3]);  // [load]
    }
  } else if (threadIdx.x % 32 == 0) {
    for (int i = 0; i < rounds; ++i) {
      wait_parity(&full[i % 3], flips ? i / 3 & 1 : 0);  // [handed wait]
      arrive(&empty[i % 3]);
    }
  }
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"mistake", [] { one_barrier<false><<<1, 64>>>(Buffer<int>(1024), 2); }},
       {"twin", [] { one_barrier<true><<<1, 64>>>(Buffer<int>(1024), 3); }},
       {"roles_mistake", [] { roles<false><<<1, 64>>>(Buffer<int>(1024), 8); }},
       {"roles_twin", [] { roles<true><<<1, 64>>>(Buffer<int>(1024), 8); }},
       {"handed_back", [] { handed_back<false><<<1, 160>>>(Buffer<int>(1024), 12); }},
       {"handed_back_twin", [] { handed_back<true><<<1, 160>>>(Buffer<int>(1024), 12); }}});
}
