// arch: sm_90a
// A cluster barrier at which threads arrive twice, or wait without having arrived.
#include "tests/kernels/check/check_test.cuh"

__device__ __forceinline__ void arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
__device__ __forceinline__ void wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }

__global__ void __cluster_dims__(2, 1, 1) twice(bool waits) {
  arrive();  // [first]
  if (waits) wait();
  arrive();  // [second]
  wait();
}

__global__ void __cluster_dims__(2, 1, 1) alone(bool arrives) {
  if (arrives) arrive();
  wait();  // [alone]
}

// One block waits at the cluster's barrier, the other at its own.
__global__ void __cluster_dims__(2, 1, 1) parted(bool all) {
  if (all || blockIdx.x == 0) {
    arrive();
    wait();  // [cluster]
  } else if (threadIdx.x < 32) {
    asm volatile("barrier.cta.sync 1, 64;" ::: "memory");  // [block]
  } else {
    asm volatile("barrier.cta.sync 2, 64;" ::: "memory");  // [block too]
  }
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"twice", [] { twice<<<2, 32>>>(false); }},
                   {"in_turn", [] { twice<<<2, 32>>>(true); }},
                   {"alone", [] { alone<<<2, 32>>>(false); }},
                   {"arrived", [] { alone<<<2, 32>>>(true); }},
                   {"parted", [] { parted<<<2, 64>>>(false); }},
                   {"together", [] { parted<<<2, 64>>>(true); }}});
}
