// Named barriers with a count other than the number of threads that use them (vllm#26026).
#include "tests/kernels/check/check_test.cuh"

__device__ __forceinline__ void sync(int id, int threads) {
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void arrive(int id, int threads) {
  asm volatile("barrier.cta.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Both halves of the block use one barrier with the count of one half.
__global__ void groups(int threads, bool own) {
  const int group = threadIdx.x / 64;
  sync(own ? 1 + group : 1, threads);  // [shared by both]
}

// The count is higher than the number of threads that use it.
__global__ void too_many(int threads) {
  if (threadIdx.x < 64) sync(1, threads);  // [half]
}

// The threads that wait and those that arrive name different counts.
__global__ void differ(int waits, int arrives) {
  if (threadIdx.x < 64) sync(1, waits);  // [waits]
  else arrive(1, arrives);               // [other count]
}

// Two groups take turns, and no thread hands over the first turn.
__global__ void turns(bool handed_over) {
  const int group = threadIdx.x / 64;
  if (handed_over && group == 1) arrive(1, 128);
  for (int i = 0; i < 2; ++i) {
    sync(1 + group, 128);  // [turn]
    if (group == 0 || i == 0) arrive(2 - group, 128);
  }
}

__global__ void part_of_a_warp(int threads) {
  sync(2, threads);  // [part]
}

// A producer that does not wait for its consumer arrives again in the same phase.
__global__ void again(bool waits) {
  for (int i = 0; i < 2; ++i) {
    if (threadIdx.x < 32) {
      if (waits && i > 0) sync(2, 64);
      arrive(1, 64);  // [again]
    } else {
      if (!waits) __nanosleep(1000);
      sync(1, 64);
      if (waits && i == 0) arrive(2, 64);
    }
  }
}

// The third warp may arrive while the first two still use the barrier.
__global__ void half_then_all(int id) {
  if (threadIdx.x < 64) sync(1, 64);  // [by two warps]
  sync(id, 96);                       // [by three warps]
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"one_for_two_groups", [] { groups<<<1, 128>>>(64, false); }},
                   {"one_each", [] { groups<<<1, 128>>>(64, true); }},
                   {"too_many", [] { too_many<<<1, 128>>>(96); }},
                   {"all", [] { too_many<<<1, 128>>>(64); }},
                   {"differ", [] { differ<<<1, 96>>>(96, 64); }},
                   {"agree", [] { differ<<<1, 96>>>(96, 96); }},
                   {"turn_of_nobody", [] { turns<<<1, 128>>>(false); }},
                   {"turns", [] { turns<<<1, 128>>>(true); }},
                   {"part_of_a_warp", [] { part_of_a_warp<<<1, 128>>>(100); }},
                   {"whole_warps", [] { part_of_a_warp<<<1, 128>>>(128); }},
                   {"again", [] { again<<<1, 64>>>(false); }},
                   {"in_turn", [] { again<<<1, 64>>>(true); }},
                   {"half_then_all", [] { half_then_all<<<1, 96>>>(1); }},
                   {"another_for_all", [] { half_then_all<<<1, 96>>>(2); }}});
}
