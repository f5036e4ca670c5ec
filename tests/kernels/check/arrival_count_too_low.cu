// arch: sm_90a
// More threads arrive than an mbarrier expects: phases complete without some of them.
#include "tests/kernels/check/waiting_test.cuh"

__global__ void all_arrive(unsigned count, int rounds) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, count);  // [init]
  publish_init();
  for (int i = 0; i < rounds; ++i) {
    const std::uint64_t token = arrive(&bar);  // [arrive]
    wait_token(&bar, token);
  }
}

// One thread of each warp arrives, but the count is for three warps.
__global__ void warps_arrive(unsigned count) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, count);  // [init warps]
  publish_init();
  __syncwarp();
  if (threadIdx.x % 32 == 0) arrive(&bar);  // [one a warp]
  wait_parity(&bar, 0);
}

// One thread arrives twice.
__global__ void twice(bool again) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);  // [init twice]
  publish_init();
  if (again && threadIdx.x == 3) arrive(&bar);  // [arrive first]
  const std::uint64_t token = arrive(&bar);     // [arrive once]
  wait_token(&bar, token);
}

// The last thread makes `count` arrivals at once, through the mbarrier's generic address.
__global__ void several_at_once(unsigned count) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);  // [init for all]
  publish_init();
  if (threadIdx.x != 31) arrive(&bar);  // [one each]
  __syncwarp();
  if (threadIdx.x == 31)
    asm volatile("mbarrier.arrive.b64 _, [%0], %1;" ::"l"(&bar), "r"(count)  // [several]
                 : "memory");
  wait_parity(&bar, 0);
}

// A producer fills two slots of a ring of two, then the first one again without waiting for room.
__global__ void producer_runs_ahead(bool waits) {
  __shared__ Word full[2], empty[2];
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i) init(&full[i], blockDim.x), init(&empty[i], 32);  // [init slots]
  publish_init();
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x < 32) {
      if (waits && i >= 2) wait_parity(&empty[i % 2], 0);
      arrive(&full[i % 2]);  // [filled]
    } else {
      const std::uint64_t token = arrive(&full[i % 2]);  // [for the slot]
      wait_token(&full[i % 2], token);
      arrive(&empty[i % 2]);
    }
  }
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { all_arrive<<<1, 64>>>(63, 1); }},
                   {"twin", [] { all_arrive<<<1, 64>>>(64, 3); }},
                   {"three_of_four", [] { warps_arrive<<<1, 128>>>(3); }},
                   {"four", [] { warps_arrive<<<1, 128>>>(4); }},
                   {"twice", [] { twice<<<1, 64>>>(true); }},
                   {"once", [] { twice<<<1, 64>>>(false); }},
                   {"several_at_once", [] { several_at_once<<<1, 32>>>(2); }},
                   {"several_at_once_twin", [] { several_at_once<<<1, 32>>>(1); }},
                   {"producer_runs_ahead", [] { producer_runs_ahead<<<1, 64>>>(false); }},
                   {"producer_waits", [] { producer_runs_ahead<<<1, 64>>>(true); }}});
}
