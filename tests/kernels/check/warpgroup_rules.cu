// Instructions of a whole warpgroup: setmaxnreg, which gives registers to the block's pool or takes
// some, and wgmma. Instructions of a whole warp: mma and elect.sync.
// arch: compute_90a
// flags: -code=sm_90a,compute_90a
#include "tests/kernels/check/wgmma_test.cuh"

#define GIVE(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n))
#define TAKE(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n))

constexpr int groups = 3, threads = groups * group_threads;

// Each thread starts with 168 registers. One warpgroup gives most of them to the other two.
template <int taken>
__global__ void __launch_bounds__(threads, 1) share(unsigned* out) {
  if (threadIdx.x < group_threads) {
    GIVE(40);
  } else {
    TAKE(taken);  // [takes]
  }
  __syncthreads();  // [meets]
  out[threadIdx.x] = threadIdx.x;
}

// The warps of one warpgroup give different numbers.
__global__ void __launch_bounds__(threads, 1) differ(unsigned* out) {
  if (threadIdx.x / 32 < 2) {
    GIVE(40);
  } else if (threadIdx.x < group_threads) {
    GIVE(48);  // [gives less]
  }
  out[threadIdx.x] = threadIdx.x;
}

// A warp gives again when the others may not yet have given.
template <bool right>
__global__ void __launch_bounds__(threads, 1) twice(unsigned* out) {
  if (threadIdx.x < group_threads) {
    GIVE(96);
    if (right) asm volatile("bar.sync 1, 128;" ::: "memory");
    GIVE(40);  // [gives again]
  }
  out[threadIdx.x] = threadIdx.x;
}

// A warpgroup takes what it has already, and goes on to store to one place.
__global__ void __launch_bounds__(threads, 1) take_again(unsigned* out) {
  if (threadIdx.x < group_threads) {
    GIVE(96);
    GIVE(96);
  } else {
    TAKE(200);
    TAKE(200);
  }
  out[0] = threadIdx.x;  // [stores after it]
}

// The first warpgroup takes at the beginning what the others give, and these take a part back.
__global__ void __launch_bounds__(threads, 1) take_back(unsigned* out) {
  const unsigned group = threadIdx.x / group_threads;
  if (group == 0) {
    TAKE(256);
    asm volatile("barrier.sync 1;");
  } else {
    GIVE(120);
    asm volatile("barrier.sync 1;");
    GIVE(32);
    asm volatile("barrier.sync %0, 128;" ::"r"(1 + group));
    TAKE(120);
  }
  out[threadIdx.x] = group;
}

// A producer's warp gives for its four warps. The others exit before it, or after it.
enum class Gives { all, first_warp, last_warp };

template <Gives which>
__global__ void __launch_bounds__(threads, 1) give_for_all(unsigned* out) {
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x < group_threads &&
      (which == Gives::all || warp == (which == Gives::first_warp ? 0 : 3))) {
    GIVE(40);  // [gives alone]
  }
  if (which == Gives::first_warp) __syncthreads();
  out[threadIdx.x] = threadIdx.x;
}

// Threads that exit keep their registers.
__global__ void __launch_bounds__(threads, 1) inherit(unsigned* out) {
  if (threadIdx.x < group_threads) return;
  if (threadIdx.x < 2 * group_threads) {
    TAKE(232);  // [takes from the ended]
  }
  out[threadIdx.x] = threadIdx.x;
}

template <int first, int last>
__global__ void multiply(float* out) {
  __shared__ Tile tile;
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < tile_bytes / 4; i += blockDim.x) tile.a[i] = 0x3f803f80;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (t + 1 <= first || t >= last) return;
  float d[4] = {1, 2, 3, 4};
  FENCE();
  MULTIPLY(d, descriptor(tile.a), descriptor(tile.b));  // [multiplies]
  COMMIT_MULTIPLY();
  WAIT_MULTIPLY(0);  // [waits]
  out[t] = d[0];
}

// Half of the last warp exits before its warpgroup gives.
template <bool right>
__global__ void __launch_bounds__(threads, 1) give_late(unsigned* out) {
  if (!right && threadIdx.x >= group_threads - 16 && threadIdx.x < group_threads) return;
  if (threadIdx.x < group_threads) {
    GIVE(40);  // [gives without all lanes]
  }
  out[threadIdx.x] = threadIdx.x;
}

#define MULTIPLY_IN_A_WARP(d, word)                                                           \
  asm volatile(                                                                               \
      "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %4}, {%4}, " \
      "{%0, %1, %2, %3};"                                                                     \
      : ACCUMULATORS(d)                                                                       \
      : "r"(word))

template <bool right>
__global__ void multiply_in_a_warp(float* out) {
  if (!right && threadIdx.x >= 16) return;
  float d[4] = {};
  MULTIPLY_IN_A_WARP(d, 0x3f803f80);  // [half multiplies]
  out[threadIdx.x] = d[0];
}

#define ELECT(elected, mask)                                                 \
  asm volatile("{ .reg .pred p; elect.sync _|p, %1; selp.u32 %0, 1, 0, p; }" \
               : "=r"(elected)                                               \
               : "n"(mask))

enum class Elect { right, left_out, not_all };

// A producer's warp elects the lane that copies.
template <Elect what>
__global__ void elect(unsigned* out) {
  unsigned elected = 0;
  if (what == Elect::left_out) {
    if (threadIdx.x < 16) ELECT(elected, 0xffff0000);  // [is not a member]
  } else if (what == Elect::right || threadIdx.x < 16) {
    ELECT(elected, 0xffffffff);  // [elects]
  }
  __syncthreads();  // [meets the warp]
  out[threadIdx.x] = elected;
}

template <class T>
void run(void (*kernel)(T*), int block) {
  Buffer<T> out(threads);
  kernel<<<1, block>>>(out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"twin",
                    [] {
                      run(share<232>, threads);
                      run(twice<true>, threads);
                      run(take_back, threads);
                      run(multiply<128, 256>, 256);
                      run(give_late<true>, threads);
                      run(give_for_all<Gives::all>, threads);
                      run(multiply_in_a_warp<true>, 32);
                      run(elect<Elect::right>, 32);
                    }},
                   {"more_than_there_are", [] { run(share<240>, threads); }},
                   {"of_threads_that_ended", [] { run(inherit, threads); }},
                   {"warps_differ", [] { run(differ, threads); }},
                   {"not_together", [] { run(twice<false>, threads); }},
                   {"again_without_effect", [] { run(take_again, threads); }},
                   {"goes_on",
                    [] {
                      run(twice<false>, threads);
                      run(take_again, threads);
                    }},
                   {"first_warp_gives", [] { run(give_for_all<Gives::first_warp>, threads); }},
                   {"last_warp_gives", [] { run(give_for_all<Gives::last_warp>, threads); }},
                   {"three_warps", [] { run(multiply<0, 96>, 96); }},
                   {"one_warp", [] { run(multiply<0, 32>, 128); }},
                   {"across_two_groups", [] { run(multiply<64, 192>, 256); }},
                   {"half_a_warp", [] { run(multiply<0, 112>, 128); }},
                   {"half_gives", [] { run(give_late<false>, threads); }},
                   {"half_multiplies", [] { run(multiply_in_a_warp<false>, 32); }},
                   {"elect_leaves_out", [] { run(elect<Elect::left_out>, 32); }},
                   {"elect_not_by_all", [] { run(elect<Elect::not_all>, 32); }}});
}
