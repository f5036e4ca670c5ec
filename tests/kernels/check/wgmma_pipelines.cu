// Mistakes in kernels like those of CUTLASS and FlashAttention: a warp copies, warpgroups multiply,
// and stages form a ring.
// arch: compute_90a
// flags: -code=sm_90a,compute_90a
#include "tests/kernels/check/wgmma_test.cuh"

enum class What {
  right,
  freed_one_early,      // wait_group 1 leaves the newest, but its stage is freed
  other_stage,          // multiplies the stage after the one that it has waited for
  freed_by_one_group,   // two warpgroups read a stage, and the first frees it for both
  not_fenced_for_copy,  // threads made the shared memory tile that they store in bulk
  stored_over_stage,    // results overwrite a stage that the other warpgroup multiplies
};

constexpr int stages = 3, steps = 9;

__device__ int stage_of(int step) { return step % stages; }
__device__ unsigned parity_of(int step) { return step / stages & 1; }

// Two warpgroups multiply tiles that a warp copies, with one multiplication in flight while the
// next is issued.
template <What what>
__global__ void gemm(const char* in, float* out) {
  __shared__ Tile tiles[stages];
  __shared__ alignas(128) float results[2 * group_threads];
  __shared__ alignas(8) std::uint64_t full[stages], empty[stages];
  const int t = threadIdx.x, group = t / group_threads;
  if (t == 0)
    for (int s = 0; s < stages; ++s) {
      MBARRIER_INIT(&full[s], 1);
      MBARRIER_INIT(&empty[s], what == What::freed_by_one_group ? 1 : 2);
    }
  __syncthreads();
  if (group == 2) {
    if (t == 2 * group_threads)
      for (int i = 0; i < steps; ++i) {
        MBARRIER_WAIT(&empty[stage_of(i)], parity_of(i) ^ 1);
        MBARRIER_EXPECT(&full[stage_of(i)], tile_bytes);
        BULK_LOAD(&tiles[stage_of(i)], in, tile_bytes, &full[stage_of(i)]);  // [refills]
      }
    return;
  }
  const bool frees = t % group_threads == 0 && (what != What::freed_by_one_group || group == 0);
  float d[4] = {};
  for (int i = 0; i < steps; ++i) {
    const Tile& tile = tiles[stage_of(what == What::other_stage ? i + 1 : i)];
    MBARRIER_WAIT(&full[stage_of(i)], parity_of(i));
    FENCE();
    MULTIPLY(d, descriptor(tile.a), descriptor(tile.b));  // [multiplies]
    COMMIT_MULTIPLY();
    WAIT_MULTIPLY(1);
    const int done = what == What::freed_one_early ? i : i - 1;
    if (frees && done >= 0) MBARRIER_ARRIVE(&empty[stage_of(done)]);
  }
  float* const to = what == What::stored_over_stage && group == 0
                        ? reinterpret_cast<float*>(&tiles[stage_of(steps - 1)])
                        : results + group * group_threads;
  WAIT_MULTIPLY(0);
  to[t % group_threads] = d[0] + d[1] + d[2] + d[3];  // [stores]
  if (what != What::not_fenced_for_copy) FENCE_PROXY_ASYNC();
  asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
  if (t % group_threads == 0) {
    BULK_STORE(out + group * group_threads, to, unsigned(group_threads * 4));  // [stores in bulk]
    BULK_COMMIT();
    BULK_WAIT_READ(0);
  }
}

enum class Attention {
  right,
  converted_early,  // scores become fragments before the wait for their multiplication
  not_fenced,       // fragments are written and multiplied without a fence
  rescaled_early,   // the output is rescaled while it is accumulated
  values_early,     // the second operand is multiplied before the wait for its copy
};

// Scores of query and keys become fragments of a product with values. Its sum is rescaled.
template <Attention what>
__global__ void attention(const char* keys, const char* values, float* out) {
  __shared__ Tile k, v;
  __shared__ alignas(8) std::uint64_t full[2];
  const int t = threadIdx.x;
  if (t == 0) {
    MBARRIER_INIT(&full[0], 1);
    MBARRIER_INIT(&full[1], 1);
    MBARRIER_EXPECT(&full[0], tile_bytes);
    BULK_LOAD(&k, keys, tile_bytes, &full[0]);
    MBARRIER_EXPECT(&full[1], tile_bytes);
    BULK_LOAD(&v, values, tile_bytes, &full[1]);  // [loads values]
  }
  __syncthreads();
  float output[4] = {};
  FRAGMENTS(0);
  if (what != Attention::values_early) MBARRIER_WAIT(&full[1], 0);
  for (int i = 0; i < 3; ++i) {
    float scores[4] = {};
    if (i == 0) MBARRIER_WAIT(&full[0], 0);
    FENCE();
    MULTIPLY(scores, descriptor(k.a), descriptor(k.b));  // [scores]
    COMMIT_MULTIPLY();
    if (what != Attention::converted_early) WAIT_MULTIPLY(0);
    asm volatile("cvt.rn.bf16x2.f32 a1, %0, %1;" ::"f"(scores[1]), "f"(scores[0]));  // [converts]
    if (what == Attention::converted_early) WAIT_MULTIPLY(0);
    if (what != Attention::not_fenced) FENCE();
    MULTIPLY_FRAGMENTS(output, descriptor(v.b));  // [accumulates]
    COMMIT_MULTIPLY();
    if (what != Attention::rescaled_early) WAIT_MULTIPLY(0);
    INCREASE(output[2]);  // [rescales]
    if (what == Attention::rescaled_early) WAIT_MULTIPLY(0);
  }
  if (what == Attention::values_early) MBARRIER_WAIT(&full[1], 0);
  out[t] = output[0] + output[1] + output[2] + output[3];
}

enum class Mixed {
  right,
  not_fenced,     // the tile is widened in shared memory without a proxy fence
  not_waited,     // widened before the copy's wait
  written_early,  // the next tile is widened where the last is still multiplied
};

// One warpgroup copies narrow values by cp.async and widens them, and another multiplies them.
template <Mixed what>
__global__ void mixed(const unsigned* in, float* out) {
  __shared__ Tile tile;
  __shared__ alignas(16) unsigned narrow[group_threads];
  const int t = threadIdx.x % group_threads;
  const bool makes = threadIdx.x >= group_threads;
  constexpr int made = 1, used = 2, both = 2 * group_threads;
  if (makes) {
    for (int i = t; i < tile_bytes / 4; i += group_threads) tile.a[i] = 0;  // [clears]
    for (int i = 0; i < 3; ++i) {
      COPY(&narrow[t], in + t, 4);  // [copies]
      COMMIT();
      WAIT_GROUP(what == Mixed::not_waited ? 1 : 0);
      if (i > 0) asm volatile("bar.sync %0, %1;" ::"n"(used), "n"(both) : "memory");
      tile.a[t] = narrow[t] << 8;  // [widens]
      if (what != Mixed::not_fenced) FENCE_PROXY_ASYNC();
      asm volatile("bar.arrive %0, %1;" ::"n"(made), "n"(both) : "memory");
    }
    WAIT_ALL();
    asm volatile("bar.sync %0, %1;" ::"n"(used), "n"(both) : "memory");
    return;
  }
  float d[4] = {};
  for (int i = 0; i < 3; ++i) {
    asm volatile("bar.sync %0, %1;" ::"n"(made), "n"(both) : "memory");
    FENCE();
    MULTIPLY(d, descriptor(tile.a), descriptor(tile.b));  // [multiplies what is made]
    COMMIT_MULTIPLY();
    if (what != Mixed::written_early) WAIT_MULTIPLY(0);
    asm volatile("bar.arrive %0, %1;" ::"n"(used), "n"(both) : "memory");
    if (what == Mixed::written_early) WAIT_MULTIPLY(0);
  }
  out[t] = d[0] + d[1] + d[2] + d[3];
}

#define LOAD_FRAGMENTS(f, from)                                                   \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])                   \
               : "r"(from)                                                        \
               : "memory")

// A warp's fragments come from stages of cp.async.
template <bool right>
__global__ void fragments(const unsigned* in, float* out) {
  __shared__ alignas(16) unsigned a[2][8 * 32];
  const int t = threadIdx.x;
  const auto copy = [&](int i) {
    for (int j = 0; j < 2; ++j) COPY(&a[i % 2][(t + j * 32) * 4], in + (t + j * 32) * 4, 16);
    COMMIT();
  };
  float d[4] = {};
  copy(0);  // [copies the first]
  for (int i = 0; i < 4; ++i) {
    copy(i + 1);  // [copies the next]
    WAIT_GROUP(right ? 1 : 2);
    __syncwarp();
    unsigned f[4];
    const unsigned from = shared_address(&a[i % 2][t * 4]);
    LOAD_FRAGMENTS(f, from);  // [loads fragments]
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%4, %5}, "
        "{%0, %1, %2, %3};"
        : ACCUMULATORS(d)
        : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]));
    __syncwarp();
  }
  WAIT_ALL();
  out[t] = d[0] + d[1] + d[2] + d[3];
}

// Two warpgroups fill one tile together, and each multiplies it. One that is done must not refill
// while the other still multiplies.
template <bool right>
__global__ void shared_tile(const unsigned* in, float* out) {
  __shared__ Tile tile;
  const int t = threadIdx.x;
  float d[4] = {};
  for (int step = 0; step < 3; ++step) {
    for (int i = t; i < tile_bytes / 4; i += 2 * group_threads)
      reinterpret_cast<unsigned*>(&tile)[i] = in[i];  // [refills the tile]
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    FENCE();
    MULTIPLY(d, descriptor(tile.a), descriptor(tile.b));  // [multiplies the tile]
    COMMIT_MULTIPLY();
    WAIT_MULTIPLY(0);
    if (right) __syncthreads();
  }
  out[t] = d[0] + d[1] + d[2] + d[3];
}

template <What what>
void run_gemm() {
  Buffer<char> in(tile_bytes);
  Buffer<float> out(2 * group_threads);
  gemm<what><<<1, 2 * group_threads + 32>>>(in, out);
  out.read();
}
template <Attention what>
void run_attention() {
  Buffer<char> in(tile_bytes);
  Buffer<float> out(group_threads);
  attention<what><<<1, group_threads>>>(in, in, out);
  out.read();
}
template <Mixed what>
void run_mixed() {
  Buffer<unsigned> in(group_threads);
  Buffer<float> out(group_threads);
  mixed<what><<<1, 2 * group_threads>>>(in, out);
  out.read();
}
template <bool right>
void run_shared_tile() {
  Buffer<unsigned> in(tile_bytes / 4);
  Buffer<float> out(2 * group_threads);
  shared_tile<right><<<1, 2 * group_threads>>>(in, out);
  out.read();
}
template <bool right>
void run_fragments() {
  Buffer<unsigned> in(8 * 32);
  Buffer<float> out(32);
  fragments<right><<<1, 32>>>(in, out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"gemm_twin", run_gemm<What::right>},
                   {"freed_one_early", run_gemm<What::freed_one_early>},
                   {"other_stage", run_gemm<What::other_stage>},
                   {"freed_by_one_group", run_gemm<What::freed_by_one_group>},
                   {"not_fenced_for_copy", run_gemm<What::not_fenced_for_copy>},
                   {"stored_over_stage", run_gemm<What::stored_over_stage>},
                   {"attention_twin", run_attention<Attention::right>},
                   {"converted_early", run_attention<Attention::converted_early>},
                   {"not_fenced", run_attention<Attention::not_fenced>},
                   {"rescaled_early", run_attention<Attention::rescaled_early>},
                   {"values_early", run_attention<Attention::values_early>},
                   {"mixed_twin", run_mixed<Mixed::right>},
                   {"mixed_not_fenced", run_mixed<Mixed::not_fenced>},
                   {"mixed_not_waited", run_mixed<Mixed::not_waited>},
                   {"mixed_written_early", run_mixed<Mixed::written_early>},
                   {"shared_tile_twin", run_shared_tile<true>},
                   {"shared_tile_refilled", run_shared_tile<false>},
                   {"fragments_twin", run_fragments<true>},
                   {"fragments_early", run_fragments<false>}});
}
