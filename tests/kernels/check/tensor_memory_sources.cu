// Matrices and scales in shared memory that tcgen05.mma and cp read through the async proxy.
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
#include "tests/kernels/check/tcgen05_test.cuh"

enum class What {
  right,
  not_fenced,           // threads write A, and no proxy fence lies between
  overwritten,          // A is stored to before the phase of the commit
  refilled,             // a bulk copy refills A before the phase of the commit
  committed_before,     // likewise, since the commit comes before the multiplication
  copy_not_awaited,     // A is multiplied before its bulk copy has arrived
  committed_early,      // the commit comes before the last multiplication
  released_by_thread,   // the thread arrives itself, where a commit should
  scales_not_fenced,    // threads write scales, and tcgen05.cp reads them
  scales_overwritten,   // scales are stored to while tcgen05.cp reads them
  scales_read_early,    // a warp loads what tcgen05.cp has not written yet
  scales_stored,        // scales are overwritten with tcgen05.st while they are multiplied
  scales_copied_over,   // likewise by another warp's tcgen05.cp
  scales_left_out,      // the scales of B are not copied
  scales_chain,         // copied and multiplied in one order of issue, without a wait
};

constexpr int steps = 4;

template <What what>
__global__ void made(float* out) {
  __shared__ TileA a;
  __shared__ TileB b;
  __shared__ alignas(8) std::uint64_t done;
  __shared__ unsigned address;
  const int t = threadIdx.x, warp = t / 32;
  clear(&b, sizeof b);
  FENCE_PROXY_ASYNC();
  if (t == 0) MBARRIER_INIT(&done, 1);
  if (warp == 0) ALLOC(&address, 32);
  for (int i = t; i < int(sizeof a) / 4; i += 128) reinterpret_cast<int*>(&a)[i] = 0;  // [makes]
  if (what != What::not_fenced) FENCE_PROXY_ASYNC();
  __syncthreads();
  const unsigned d = address;
  if (t == 0) {
    MULTIPLY_SHARED(d, &a, &b, false);  // [multiplies]
    if (what == What::committed_early) COMMIT_TENSOR(&done);
    MULTIPLY_SHARED(d, &a, &b, true);  // [multiplies again]
    if (what == What::released_by_thread) MBARRIER_ARRIVE(&done);
    if (what == What::right || what == What::overwritten || what == What::not_fenced)
      COMMIT_TENSOR(&done);
  }
  __syncwarp();
  if (what != What::overwritten) MBARRIER_WAIT(&done, 0);
  reinterpret_cast<int*>(&a)[t] = 1;  // [stores]
  if (what == What::overwritten) MBARRIER_WAIT(&done, 0);
  unsigned word;
  LOAD(word, own_lanes(d));  // [loads]
  WAIT_LOADS();
  out[t] = __uint_as_float(word);
  __syncthreads();
  if (warp == 0) DEALLOC(d, 32);  // [frees]
}

template <What what>
__global__ void copied(const char* in, float* out) {
  __shared__ TileA a[2];
  __shared__ TileB b;
  __shared__ alignas(8) std::uint64_t full[2], empty[2], done;
  __shared__ unsigned address;
  const int t = threadIdx.x, warp = t / 32;
  clear(&b, sizeof b);
  FENCE_PROXY_ASYNC();
  if (t == 0) {
    for (int s = 0; s < 2; ++s) {
      MBARRIER_INIT(&full[s], 1);
      MBARRIER_INIT(&empty[s], 1);
    }
    MBARRIER_INIT(&done, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (warp == 0) ALLOC(&address, 32);
  __syncthreads();
  const unsigned d = address;
  if (t == 64) {
    for (int i = 0; i < steps; ++i) {
      const int s = i % 2, round = i / 2;
      MBARRIER_WAIT(&empty[s], (round & 1) ^ 1);
      MBARRIER_EXPECT(&full[s], unsigned(sizeof a[s]));
      BULK_LOAD(&a[s], in, unsigned(sizeof a[s]), &full[s]);  // [refills]
    }
  } else if (t == 32) {
    for (int i = 0; i < steps; ++i) {
      const int s = i % 2;
      if (what != What::copy_not_awaited) MBARRIER_WAIT(&full[s], i / 2 & 1);
      if (what == What::committed_before) COMMIT_TENSOR(&empty[s]);
      MULTIPLY_SHARED(d, &a[s], &b, i != 0);  // [multiplies the copy]
      if (what == What::copy_not_awaited) MBARRIER_WAIT(&full[s], i / 2 & 1);
      if (what == What::refilled)
        MBARRIER_ARRIVE(&empty[s]);
      else if (what != What::committed_before)
        COMMIT_TENSOR(&empty[s]);
    }
    COMMIT_TENSOR(&done);
  }
  __syncwarp();
  MBARRIER_WAIT(&done, 0);
  unsigned word;
  LOAD(word, own_lanes(d));
  WAIT_LOADS();
  out[t] = __uint_as_float(word);
  __syncthreads();
  if (warp == 0) DEALLOC(d, 32);
}

struct alignas(128) Scales {
  char bytes[512];
};
template <What what>
__global__ void scales(float* out) {
  __shared__ Scales from;
  __shared__ alignas(8) std::uint64_t done;
  __shared__ unsigned address;
  const int t = threadIdx.x, warp = t / 32;
  if (t == 0) MBARRIER_INIT(&done, 1);
  if (warp == 0) ALLOC(&address, 32);
  reinterpret_cast<int*>(&from)[t] = t;  // [makes scales]
  if (what != What::scales_not_fenced) FENCE_PROXY_ASYNC();
  __syncthreads();
  const unsigned at = address;
  if (t == 0) {
    COPY_SCALES(at, &from);  // [copies scales]
    if (what == What::scales_chain) COPY_SCALES(at, &from);
    COMMIT_TENSOR(&done);
  }
  __syncwarp();
  if (what != What::scales_overwritten && what != What::scales_read_early) MBARRIER_WAIT(&done, 0);
  unsigned word = 0;
  if (what == What::scales_overwritten) reinterpret_cast<int*>(&from)[t] = 0;  // [stores scales]
  if (what == What::scales_overwritten) MBARRIER_WAIT(&done, 0);
  LOAD(word, own_lanes(at));  // [loads scales]
  WAIT_LOADS();
  if (what == What::scales_read_early) MBARRIER_WAIT(&done, 0);
  out[t] = __uint_as_float(word);
  __syncthreads();
  if (warp == 0) DEALLOC(at, 32);
}

constexpr unsigned scaled_instruction = d_columns / 8 << 17 | 1 << 23 | d_rows / 128 << 27;
#define MULTIPLY_SCALED(d, a, b, of_a, of_b)                                                   \
  asm volatile(                                                                                \
      "{\n.reg .pred p;\nsetp.ne.b32 p, 0, 0;\n"                                               \
      "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, "   \
      "[%4], [%5], p;\n}" ::"r"(d),                                                            \
      "l"(matrix(a)), "l"(matrix(b)), "r"(scaled_instruction), "r"(of_a), "r"(of_b)           \
      : "memory")

// Scales are copied and multiplied by one thread, which need not wait between.
template <What what>
__global__ void scaled(float* out) {
  __shared__ TileA a;
  __shared__ TileB b;
  __shared__ Scales from;
  __shared__ alignas(8) std::uint64_t done, other_done, issued;
  __shared__ unsigned address;
  const int t = threadIdx.x, warp = t / 32;
  clear(&a, sizeof a);
  clear(&b, sizeof b);
  clear(&from, sizeof from);
  FENCE_PROXY_ASYNC();
  if (t == 0) {
    MBARRIER_INIT(&done, 1);
    MBARRIER_INIT(&other_done, 1);
    MBARRIER_INIT(&issued, 1);
  }
  if (warp == 0) ALLOC(&address, 64);
  __syncthreads();
  const unsigned d = address, of_a = d + 32, of_b = d + 36;
  if (t == 0) {
    COPY_SCALES(of_a, &from);  // [copies scales of A]
    if (what != What::scales_left_out) COPY_SCALES(of_b, &from);
    MULTIPLY_SCALED(d, &a, &b, of_a, of_b);  // [multiplies with scales]
    COMMIT_TENSOR(&done);
    MBARRIER_ARRIVE(&issued);
  }
  __syncwarp();
  MBARRIER_WAIT(&issued, 0);
  if (what != What::scales_stored && what != What::scales_copied_over) MBARRIER_WAIT(&done, 0);
  if (what != What::scales_copied_over) {
    STORE(own_lanes(of_a), 0);  // [stores new scales]
    WAIT_STORES();
  } else if (t == 32) {
    COPY_SCALES(of_a, &from);  // [copies new scales]
    COMMIT_TENSOR(&other_done);
    MBARRIER_WAIT(&other_done, 0);
  }
  __syncwarp();
  if (what == What::scales_stored || what == What::scales_copied_over) MBARRIER_WAIT(&done, 0);
  unsigned word;
  LOAD(word, own_lanes(d));
  WAIT_LOADS();
  out[t] = __uint_as_float(word);
  __syncthreads();
  if (warp == 0) DEALLOC(d, 64);
}

template <What what>
void run_scaled() {
  Buffer<float> out(128);
  scaled<what><<<1, 128>>>(out);
}
template <What what>
void run_made() {
  Buffer<float> out(128);
  made<what><<<1, 128>>>(out);
}
template <What what>
void run_copied() {
  Buffer<char> in(std::vector<char>(sizeof(TileA)));
  Buffer<float> out(128);
  copied<what><<<1, 128>>>(in, out);
}
template <What what>
void run_scales() {
  Buffer<float> out(128);
  scales<what><<<1, 128>>>(out);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"made_twin", run_made<What::right>},
                   {"not_fenced", run_made<What::not_fenced>},
                   {"overwritten", run_made<What::overwritten>},
                   {"committed_early", run_made<What::committed_early>},
                   {"released_by_thread", run_made<What::released_by_thread>},
                   {"copied_twin", run_copied<What::right>},
                   {"refilled", run_copied<What::refilled>},
                   {"committed_before", run_copied<What::committed_before>},
                   {"copy_not_awaited", run_copied<What::copy_not_awaited>},
                   {"scales_twin", run_scales<What::right>},
                   {"scaled_twin", run_scaled<What::right>},
                   {"scales_stored", run_scaled<What::scales_stored>},
                   {"scales_copied_over", run_scaled<What::scales_copied_over>},
                   {"scales_left_out", run_scaled<What::scales_left_out>},
                   {"scales_chain", run_scales<What::scales_chain>},
                   {"scales_not_fenced", run_scales<What::scales_not_fenced>},
                   {"scales_overwritten", run_scales<What::scales_overwritten>},
                   {"scales_read_early", run_scales<What::scales_read_early>}});
}
