// wgmma: registers accessed before the wait, or without a fence; shared memory operands changed,
// written without a proxy fence, or freed before the wait for the multiplication.
// arch: compute_90a
// flags: -code=sm_90a,compute_90a
#include "tests/kernels/check/wgmma_test.cuh"

constexpr int threads = group_threads, bytes = tile_bytes;

#define MULTIPLY_16_COLUMNS(d, a, b)                                                            \
  asm volatile(                                                                                 \
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, " \
      "%8, %9, 1, 1, 1, 0, 0;"                                                                  \
      : ACCUMULATORS(d), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])                         \
      : "l"(a), "l"(b))
#define MULTIPLY_HALVES(d, a, b)                                                               \
  asm volatile(                                                                                \
      "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, " \
      "0, 0;"                                                                                  \
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                         \
      : "l"(a), "l"(b))
#define MULTIPLY_BY_PRODUCT(d, a, b)                                                           \
  asm volatile(                                                                                \
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, " \
      "%8, 1, 1, 1, 0;"                                                                        \
      : ACCUMULATORS(d)                                                                        \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))

enum class What {
  right,
  accumulators_touched,
  accumulators_kept,
  accumulators_stored,
  too_many_allowed,
  fragments_changed,
  no_fence,
  operand_overwritten,
  no_proxy_fence,
  never_waited,
  one_left,
  loaded_behind_fence,
  fenced_twice,
};

template <What what>
__global__ void multiply(float* out) {
  __shared__ Tile tile;
  const unsigned t = threadIdx.x;
  unsigned* const words = tile.a;
  for (unsigned i = t; i < bytes / 4; i += threads) words[i] = 0x3f803f80;  // [fills]
  if (what != What::no_proxy_fence) FENCE_PROXY_ASYNC();
  __syncthreads();
  float d[4] = {1, 2, 3, 4}, kept[1];
  FRAGMENTS(0x3f803f80);
  FENCE();
  MULTIPLY(d, descriptor(tile.a), descriptor(tile.b));  // [multiplies]
  COMMIT_MULTIPLY();
  if (what == What::never_waited) return;
  if (what == What::accumulators_touched) INCREASE(d[1]);  // [touches]
  // As compilers store to an array in local memory: the assembler waits.
  if (what == What::accumulators_kept) STORE(kept, d[1]);
  if (what == What::accumulators_stored) STORE(out + t, d[1]);  // [stores]
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
  if (what == What::loaded_behind_fence) LOAD_FRAGMENT(words);  // [loads a fragment]
  if (what == What::fenced_twice) {
    LOAD_FRAGMENT(words);
    FENCE();
  }
  MULTIPLY_FRAGMENTS(d, descriptor(tile.b));  // [multiplies fragments]
  COMMIT_MULTIPLY();
  if (what == What::fragments_changed) CHANGE_FRAGMENTS();  // [changes]
  if (what == What::one_left) {
    WAIT_MULTIPLY(1);
    return;
  }
  WAIT_MULTIPLY(0);
  CHANGE_FRAGMENTS();
  out[t] = d[0] + d[1] + d[2] + d[3];
}

// The multiplication reads a tile that a copy wrote.
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

// Nothing but zeros is in the accumulators, and no wgmma.fence is before the first multiplication.
template <bool fenced>
__global__ void begin(float* out) {
  __shared__ Tile tile;
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < bytes / 4; i += threads) tile.a[i] = 0x3f803f80;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  float d[4] = {};
  for (int i = 0; i < 2; ++i) {
    if (fenced || i) FENCE();
    MULTIPLY(d, descriptor(tile.a), descriptor(tile.b));  // [multiplies first]
    COMMIT_MULTIPLY();
    WAIT_MULTIPLY(0);
  }
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

// Two multiplications use the same accumulators, in one shape or two.
enum class Shapes { one, two, two_fenced, two_waited };
template <Shapes shapes>
__global__ void multiply_twice(float* out) {
  __shared__ Tile tile;
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < bytes / 4; i += threads) tile.a[i] = 0x3f803f80;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  float d[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  FENCE();
  MULTIPLY(d, descriptor(tile.a), descriptor(tile.b));  // [multiplies 8 columns]
  COMMIT_MULTIPLY();
  if (shapes == Shapes::two_waited) WAIT_MULTIPLY(0);
  if (shapes == Shapes::two_fenced || shapes == Shapes::two_waited) FENCE();
  if (shapes == Shapes::one) MULTIPLY(d, descriptor(tile.a), descriptor(tile.b));
  else MULTIPLY_16_COLUMNS(d, descriptor(tile.a), descriptor(tile.a));  // [multiplies 16 columns]
  COMMIT_MULTIPLY();
  WAIT_MULTIPLY(0);
  for (int i = 1; i < 8; ++i) d[0] += d[i];
  out[t] = d[0];
}

// What a multiplication accumulates is a fragment of the next one.
template <bool waits>
__global__ void multiply_the_product(float* out) {
  __shared__ Tile tile;
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < bytes / 4; i += threads) tile.a[i] = 0x3c003c00;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  unsigned product[4] = {};
  float d[4] = {};
  FENCE();
  MULTIPLY_HALVES(product, descriptor(tile.a), descriptor(tile.a));  // [multiplies halves]
  COMMIT_MULTIPLY();
  if (waits) WAIT_MULTIPLY(0);
  FENCE();
  MULTIPLY_BY_PRODUCT(d, product, descriptor(tile.b));  // [multiplies the product]
  COMMIT_MULTIPLY();
  WAIT_MULTIPLY(0);
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

template <void kernel(float*)>
void run_kernel() {
  Buffer<float> out(threads);
  kernel<<<1, threads>>>(out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"twin", run<What::right>},
                   {"accumulators_touched", run<What::accumulators_touched>},
                   {"accumulators_stored", run<What::accumulators_stored>},
                   {"accumulators_kept_twin", run<What::accumulators_kept>},
                   {"too_many_allowed", run<What::too_many_allowed>},
                   {"fragments_changed", run<What::fragments_changed>},
                   {"no_fence", run<What::no_fence>},
                   {"operand_overwritten", run<What::operand_overwritten>},
                   {"no_proxy_fence", run<What::no_proxy_fence>},
                   {"never_waited", run<What::never_waited>},
                   {"one_left", run<What::one_left>},
                   {"loaded_behind_fence", run<What::loaded_behind_fence>},
                   {"loaded_twin", run<What::fenced_twice>},
                   {"freed_early", run_pipeline<true>},
                   {"not_full", run_load<false>},
                   {"load_twin", run_load<true>},
                   {"begun_unfenced", [] { begin<false><<<1, threads>>>(Buffer<float>(threads)); }},
                   {"begun_twin", [] { begin<true><<<1, threads>>>(Buffer<float>(threads)); }},
                   {"one_shape_twin", run_kernel<multiply_twice<Shapes::one>>},
                   {"two_shapes", run_kernel<multiply_twice<Shapes::two>>},
                   {"two_shapes_fenced", run_kernel<multiply_twice<Shapes::two_fenced>>},
                   {"two_shapes_twin", run_kernel<multiply_twice<Shapes::two_waited>>},
                   {"product_early", run_kernel<multiply_the_product<false>>},
                   {"product_twin", run_kernel<multiply_the_product<true>>},
                   {"pipeline_twin", run_pipeline<false>}});
}
