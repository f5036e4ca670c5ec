// A thread multiplies into two accumulators in turn, which four warps read: pipelines as in CUTLASS
// and FlashAttention-4.
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
#include "tests/kernels/check/tcgen05_test.cuh"

enum class What {
  right,
  used_without_wait,     // NVIDIA/cutlass#2525: a use of the registers waits for a load
  released_before_wait,  // NVIDIA/cutlass#3652, vllm-project/flash-attention#182
  released_without_wait,
  arrives_itself,        // the thread that multiplies arrives, where its commit should
  one_warp_releases,     // only one of four warps arrives
  freed_early,           // triton-lang/triton#7994: other warps still read
  freed_before_wait,     // and its own loads have not been waited for
  not_freed,             // NVIDIA/cutlass#2230
  last_not_observed,     // the block ends with a multiplication in flight
  address_early,         // the columns are used before the barrier after their allocation
  accumulates_at_once,   // onto an accumulator that nothing has written
  commits_by_all,        // tile-ai/tilelang#2360: all 32 lanes commit, and the mbarrier counts one
  lanes_left_out,        // deepseek-ai/DeepGEMM#341: addresses without the warp's lanes
  address_overwritten,   // NVIDIA/Fuser#4142: the address in shared memory is overwritten
  two_allocate,          // NVIDIA/cutlass#3316: two warps store their addresses to one place
};

constexpr int readers = 128, steps = 4, wide = 32;

template <What what>
__global__ void pipeline(float* out) {
  __shared__ TileA a;
  __shared__ TileB b;
  __shared__ alignas(8) std::uint64_t full[2], empty[2];
  __shared__ unsigned address;
  const int t = threadIdx.x, warp = t / 32;
  clear(&a, sizeof a);
  clear(&b, sizeof b);
  FENCE_PROXY_ASYNC();
  if (t == 0)
    for (int s = 0; s < 2; ++s) {
      MBARRIER_INIT(&full[s], 1);  // [expects]
      MBARRIER_INIT(&empty[s], what == What::one_warp_releases ? 1 : 4);
    }
  if (warp == 4 || (what == What::two_allocate && warp == 3)) ALLOC(&address, 64);  // [allocates]
  unsigned d = 0;
  if (what != What::address_early) __syncthreads();
  if (what == What::address_early) {
    STORE(own_lanes(d), 0);  // [stores early]
    WAIT_STORES();
    __syncthreads();
  }
  if (what == What::address_overwritten) {
    if (t == 0) address = 256;
    __syncthreads();
  }
  d = *static_cast<volatile unsigned*>(&address);
  if (warp == 4 && (t % 32 == 0 || what == What::commits_by_all)) {
    for (int i = 0; i < steps; ++i) {
      const int s = i % 2;
      MBARRIER_WAIT(&empty[s], (i / 2 & 1) ^ 1);
      const bool accumulates = what == What::accumulates_at_once;
      if (t % 32 == 0) MULTIPLY_SHARED(d + s * wide, &a, &b, accumulates);  // [multiplies]
      if (what == What::arrives_itself)
        MBARRIER_ARRIVE(&full[s]);
      else if (what != What::last_not_observed || i != steps - 1)
        COMMIT_TENSOR(&full[s]);  // [commits]
    }
  }
  __syncwarp();
  float sum = 0;
  if (warp < 4) {
    for (int i = 0; i < (what == What::last_not_observed ? steps - 1 : steps); ++i) {
      const int s = i % 2, parity = i / 2 & 1;
      MBARRIER_WAIT(&full[s], parity);
      unsigned word;
      const unsigned at = d + s * wide;
      LOAD(word, what == What::lanes_left_out ? at : own_lanes(at));  // [loads]
      if (what == What::used_without_wait)
        asm volatile("st.global.b32 [%0], %1;" ::"l"(out + t), "r"(word) : "memory");
      if (what != What::used_without_wait && what != What::released_before_wait &&
          what != What::released_without_wait && what != What::freed_before_wait)
        WAIT_LOADS();
      if (t % 32 == 0 && (what != What::one_warp_releases || warp == 0)) MBARRIER_ARRIVE(&empty[s]);
      if (what == What::released_before_wait) WAIT_LOADS();
      sum += __uint_as_float(word);
    }
  }
  if (what != What::freed_early && what != What::freed_before_wait) __syncthreads();
  if (what == What::freed_before_wait && warp == 4) MBARRIER_WAIT(&empty[1], (steps / 2 - 1) & 1);
  if (what == What::freed_before_wait && warp == 4) MBARRIER_WAIT(&empty[0], (steps / 2 - 1) & 1);
  if (what == What::freed_early && warp == 4) {
    MBARRIER_WAIT(&full[0], (steps / 2 - 1) & 1);
    MBARRIER_WAIT(&full[1], (steps / 2 - 1) & 1);
  }
  if (warp == 4 && what != What::not_freed) DEALLOC(d, 64);  // [frees]
  if (t < readers) out[t] = sum;
}

template <What what>
void run() {
  Buffer<float> out(readers);
  pipeline<what><<<1, 160>>>(out);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"twin", run<What::right>},
                   {"used_without_wait", run<What::used_without_wait>},
                   {"released_before_wait", run<What::released_before_wait>},
                   {"released_without_wait", run<What::released_without_wait>},
                   {"arrives_itself", run<What::arrives_itself>},
                   {"one_warp_releases", run<What::one_warp_releases>},
                   {"freed_early", run<What::freed_early>},
                   {"freed_before_wait", run<What::freed_before_wait>},
                   {"not_freed", run<What::not_freed>},
                   {"last_not_observed", run<What::last_not_observed>},
                   {"address_early", run<What::address_early>},
                   {"accumulates_at_once", run<What::accumulates_at_once>},
                   {"commits_by_all", run<What::commits_by_all>},
                   {"lanes_left_out", run<What::lanes_left_out>},
                   {"address_overwritten", run<What::address_overwritten>},
                   {"two_allocate", run<What::two_allocate>}});
}
