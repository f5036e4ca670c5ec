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

// Both warps have waited in this run, but nothing orders the other's wait before.
template <bool meets>
__global__ void waited_by_chance(int* out) {
  __shared__ Word bar;
  __shared__ int values[64];
  if (threadIdx.x == 0) init(&bar, 64);
  publish_init();
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  arrive(&bar);
  wait_parity(&bar, 0);  // [wait of both]
  if (meets) __syncthreads();
  if (threadIdx.x == 0) inval(&bar);  // [inval by chance]
  out[threadIdx.x] = values[63 - threadIdx.x];
}

// The consumer's last wait is known to the producer by the arrival that follows it.
__global__ void handed_back(int* out) {
  __shared__ Word full, empty;
  __shared__ int value;
  if (threadIdx.x == 0) init(&full, 1), init(&empty, 1);
  publish_init();
  if (threadIdx.x == 0) {
    value = 7;
    arrive(&full);
    wait_parity(&empty, 0);
    inval(&full), inval(&empty);
  } else if (threadIdx.x == 32) {
    wait_parity(&full, 0);
    *out = value;
    arrive(&empty);
  }
}

// Threads that return have waited when the others are past a barrier.
__global__ void returned_early(int* out) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 64);
  publish_init();
  arrive(&bar);
  wait_parity(&bar, 0);
  out[threadIdx.x] = 1;
  if (threadIdx.x >= 32) return;
  __syncthreads();
  if (threadIdx.x == 0) inval(&bar);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { copy_in_flight<false><<<1, 32>>>(Buffer<int>(1024)); }},
                   {"twin", [] { copy_in_flight<true><<<1, 32>>>(Buffer<int>(1024)); }},
                   {"used_after", [] { used_after<false><<<1, 64>>>(); }},
                   {"met_before", [] { used_after<true><<<1, 64>>>(); }},
                   {"by_chance", [] { waited_by_chance<false><<<1, 64>>>(Buffer<int>(64)); }},
                   {"by_chance_twin", [] { waited_by_chance<true><<<1, 64>>>(Buffer<int>(64)); }},
                   {"handed_back_twin", [] { handed_back<<<1, 64>>>(Buffer<int>(1)); }},
                   {"returned_early_twin", [] { returned_early<<<1, 64>>>(Buffer<int>(64)); }}});
}
