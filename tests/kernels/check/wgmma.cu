// wgmma: its registers touched before the wait, or without their fence; what it reads in shared
// memory changed, written without a proxy fence, or freed before the multiplication is waited for.
// arch: compute_90a
// flags: -code=sm_90a,compute_90a
#include "tests/kernels/check/ptx_macros.cuh"

constexpr int threads = 128, a_bytes = 64 * 32, b_bytes = 8 * 32, bytes = a_bytes + b_bytes;

#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT_MULTIPLY() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT_MULTIPLY(n) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")
#define ACCUMULATORS(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define MULTIPLY(d, a, b)                                                                       \
  asm volatile(                                                                                 \
      "{ .reg .pred p;\nsetp.eq.u32 p, 0, 0;\n"                                                 \
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, " \
      "0, 0; }"                                                                                 \
      : ACCUMULATORS(d)                                                                         \
      : "l"(a), "l"(b))
// Fragments are registers of the kernel's own: compilers copy what they give to an instruction.
#define FRAGMENTS(word)                                                                        \
  asm volatile(                                                                                \
      ".reg .b32 a0, a1, a2, a3; mov.b32 a0, %0; mov.b32 a1, %0; mov.b32 a2, %0; mov.b32 a3, " \
      "%0;" ::"r"(word))
#define MULTIPLY_FRAGMENTS(d, b)                                                                 \
  asm volatile(                                                                                  \
      "{ .reg .pred p;\nsetp.eq.u32 p, 0, 0;\n"                                                  \
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {a0, a1, a2, a3}, " \
      "%4, p, 1, 1, 0; }"                                                                        \
      : ACCUMULATORS(d)                                                                          \
      : "l"(b))
#define CHANGE_FRAGMENTS() asm volatile("xor.b32 a1, a1, 32768;")
// In place, which the compiler cannot see through.
#define INCREASE(f) asm volatile("add.f32 %0, %0, 0f3F800000;" : "+f"(f))

__device__ std::uint64_t descriptor(const void* tile) {
  return shared_address(tile) >> 4 | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
}

struct alignas(128) Tile {
  unsigned a[a_bytes / 4], b[b_bytes / 4];
};

enum class What {
  right,
  accumulators_touched,
  too_many_allowed,
  fragments_changed,
  no_fence,
  operand_overwritten,
  no_proxy_fence,
};

template <What what>
__global__ void multiply(float* out) {
  __shared__ Tile tile;
  const unsigned t = threadIdx.x;
  unsigned* const words = tile.a;
  for (unsigned i = t; i < bytes / 4; i += threads) words[i] = 0x3f803f80;  // [fills]
  if (what != What::no_proxy_fence) FENCE_PROXY_ASYNC();
  __syncthreads();
  float d[4] = {1, 2, 3, 4};
  FRAGMENTS(0x3f803f80);
  FENCE();
  MULTIPLY(d, descriptor(tile.a), descriptor(tile.b));  // [multiplies]
  COMMIT_MULTIPLY();
  if (what == What::accumulators_touched) INCREASE(d[1]);  // [touches]
  if (what == What::operand_overwritten) {
    if (t < b_bytes / 4) tile.b[t] = t;  // [overwrites]
    WAIT_MULTIPLY(0);
    out[t] = d[0];
    return;
  }
  if (what == What::too_many_allowed) {
    WAIT_MULTIPLY(1);
    INCREASE(d[2]);  // [increases]
  }
  WAIT_MULTIPLY(0);
  INCREASE(d[0]);  // [prepares]
  CHANGE_FRAGMENTS();
  if (what != What::no_fence) FENCE();
  MULTIPLY_FRAGMENTS(d, descriptor(tile.b));  // [multiplies fragments]
  COMMIT_MULTIPLY();
  if (what == What::fragments_changed) CHANGE_FRAGMENTS();  // [changes]
  WAIT_MULTIPLY(0);
  CHANGE_FRAGMENTS();
  out[t] = d[0] + d[1] + d[2] + d[3];
}

// What a copy brings is multiplied.
template <bool right>
__global__ void load(const char* in, float* out) {
  __shared__ Tile tile;
  __shared__ alignas(8) std::uint64_t full;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    MBARRIER_INIT(&full, 1);
    MBARRIER_EXPECT(&full, bytes);
    BULK_LOAD(&tile, in, bytes, &full);  // [loads]
  }
  __syncthreads();
  float d[4] = {};
  if (right) MBARRIER_WAIT(&full, 0);
  FENCE();
  MULTIPLY(d, descriptor(tile.a), descriptor(tile.b));  // [multiplies what is loaded]
  COMMIT_MULTIPLY();
  WAIT_MULTIPLY(0);
  if (!right) MBARRIER_WAIT(&full, 0);
  out[t] = d[0] + d[1] + d[2] + d[3];
}

// A warp copies, a warpgroup multiplies and frees each stage by one of its threads.
template <bool early>
__global__ void pipeline(const char* in, float* out, int steps) {
  __shared__ Tile stages[2];
  __shared__ alignas(8) std::uint64_t full[2], empty[2];
  const unsigned t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 2; ++s) {
      MBARRIER_INIT(&full[s], 1);
      MBARRIER_INIT(&empty[s], 1);
    }
  }
  __syncthreads();
  if (t >= threads) {
    if (t == threads)
      for (int i = 0; i < steps; ++i) {
        MBARRIER_WAIT(&empty[i % 2], i / 2 & 1 ^ 1);
        MBARRIER_EXPECT(&full[i % 2], bytes);
        BULK_LOAD(&stages[i % 2], in, bytes, &full[i % 2]);  // [refills]
      }
    return;
  }
  float d[4] = {};
  for (int i = 0; i < steps; ++i) {
    const Tile& stage = stages[i % 2];
    MBARRIER_WAIT(&full[i % 2], i / 2 & 1);
    FENCE();
    MULTIPLY(d, descriptor(stage.a), descriptor(stage.b));  // [multiplies a stage]
    COMMIT_MULTIPLY();
    if (early && t == 0) MBARRIER_ARRIVE(&empty[i % 2]);
    WAIT_MULTIPLY(0);
    if (!early && t == 0) MBARRIER_ARRIVE(&empty[i % 2]);
  }
  out[t] = d[0] + d[1] + d[2] + d[3];
}

template <What what>
void run() {
  Buffer<float> out(threads);
  multiply<what><<<1, threads>>>(out);
  out.read();
}
template <bool right>
void run_load() {
  Buffer<char> in(bytes);
  Buffer<float> out(threads);
  load<right><<<1, threads>>>(in, out);
  out.read();
}
template <bool early>
void run_pipeline() {
  Buffer<char> in(bytes);
  Buffer<float> out(threads);
  pipeline<early><<<1, threads + 32>>>(in, out, 8);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"twin", run<What::right>},
                   {"accumulators_touched", run<What::accumulators_touched>},
                   {"too_many_allowed", run<What::too_many_allowed>},
                   {"fragments_changed", run<What::fragments_changed>},
                   {"no_fence", run<What::no_fence>},
                   {"operand_overwritten", run<What::operand_overwritten>},
                   {"no_proxy_fence", run<What::no_proxy_fence>},
                   {"freed_early", run_pipeline<true>},
                   {"not_full", run_load<false>},
                   {"load_twin", run_load<true>},
                   {"pipeline_twin", run_pipeline<false>}});
}
