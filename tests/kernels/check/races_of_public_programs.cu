// Races of public programs, each reduced to its smallest kernel.
#include <cooperative_groups.h>
#include <mma.h>

#include "tests/kernels/check/ptx_macros.cuh"

namespace cg = cooperative_groups;

// FlashKDA #24: plain stores clear a tile before a bulk store reads it. The proxy fence is in the
// main loop, which an empty sequence never enters.
template <bool right>
__global__ void flashkda(int* out) {
  __shared__ alignas(16) int tile[128];
  const int steps = out[0];
  tile[threadIdx.x] = 0;  // [flashkda clears]
  for (int i = 0; i < steps; ++i) {
    tile[threadIdx.x] += i;
    FENCE_PROXY_ASYNC();
  }
  if (right) FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(out, tile, unsigned{sizeof tile});  // [flashkda store]
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}

// DeepEP #621 and #632: another rank writes a buffer and sets a flag. A thread that sees the flag
// loads the buffer in bulk, without a fence between the generic and the async proxy.
__device__ int deepep_flag;
__device__ alignas(16) int deepep_buffer[128];
template <bool right>
__global__ void deepep(int* out) {
  __shared__ alignas(16) int tile[128];
  __shared__ alignas(8) std::uint64_t bar;
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    deepep_buffer[t] = t;  // [deepep writes]
    __syncthreads();
    if (t == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(&deepep_flag) : "memory");
    return;
  }
  if (t == 0) {
    MBARRIER_INIT(&bar, 1);
    int seen = 0;
    while (!seen)
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                   : "=r"(seen)
                   : "l"(&deepep_flag)
                   : "memory");
    if (right) asm volatile("fence.proxy.async;" ::: "memory");
    MBARRIER_EXPECT(&bar, unsigned{sizeof tile});
    BULK_LOAD(tile, deepep_buffer, unsigned{sizeof tile}, &bar);  // [deepep load]
  }
  __syncthreads();
  MBARRIER_WAIT(&bar, 0);
  out[t] = tile[t];
}

// DeepEP #657: two stages are loaded and stored in turn. Before it reloads a stage, the thread
// waits until one group of stores is left, which may be the one that reads this stage.
template <bool right>
__global__ void deepep_stages(int* out) {
  constexpr int stages = 2, rounds = 4;
  __shared__ alignas(16) int tile[stages][32];
  __shared__ alignas(8) std::uint64_t bar[stages];
  if (threadIdx.x != 0) return;
  for (int s = 0; s < stages; ++s) MBARRIER_INIT(&bar[s], 1);
  FENCE_PROXY_ASYNC();
  for (int i = 0; i < rounds + stages; ++i) {
    if (i >= stages) {
      const int done = i - stages;
      MBARRIER_WAIT(&bar[done % stages], done / stages % 2);
      BULK_STORE(out + done * 32, tile[done % stages], 128u);  // [stages' store]
      BULK_COMMIT();
      if (right) BULK_WAIT_READ(0);
      else BULK_WAIT_READ(stages - 1);
    }
    if (i >= rounds) continue;
    MBARRIER_EXPECT(&bar[i % stages], 128u);
    BULK_LOAD(tile[i % stages], out + 32 * i, 128u, &bar[i % stages]);  // [stages' load]
  }
  BULK_WAIT(0);
}

// TensorRT-LLM #15338: in every round, the consumer polls the first stage's mbarrier, whose phase
// is already complete.
template <bool right>
__global__ void tinygemm(int* out) {
  constexpr int stages = 2;
  __shared__ alignas(16) int tile[stages][32];
  __shared__ alignas(8) std::uint64_t bar[stages];
  const unsigned t = threadIdx.x;
  if (t == 0)
    for (int s = 0; s < stages; ++s) MBARRIER_INIT(&bar[s], 1);
  __syncthreads();
  if (t == 0)
    for (int s = 0; s < stages; ++s) {
      MBARRIER_EXPECT(&bar[s], 128u);
      BULK_LOAD(tile[s], out + 32 * s, 128u, &bar[s]);  // [tinygemm copy]
    }
  std::uint64_t* const first = &bar[0];
  for (int s = 0; s < stages; ++s) {
    MBARRIER_WAIT(right ? &bar[s] : first, 0);
    out[64 + t] += tile[s][t];  // [tinygemm reads]
  }
  if (!right) MBARRIER_WAIT(&bar[1], 0);
}

// FlashInfer #3529: a round of a radix selection reads the histogram that the next round clears.
template <bool right>
__global__ void top_k(int* out) {
  __shared__ int histogram[128];
  const unsigned t = threadIdx.x;
  int rest = 0;
  for (int round = 0; round < 2; ++round) {
    histogram[t] = 0;  // [top k clears]
    __syncthreads();
    atomicAdd(&histogram[t / 2 + round], 1);
    __syncthreads();
    rest -= histogram[5];  // [top k reads]
    if (right) __syncthreads();
  }
  out[t] = rest;
}

// flash-attention #2033: every warp writes and fences its part, and the first thread passes on the
// whole tile without a barrier of the warps that wrote it.
template <bool right>
__global__ void flash_attention(int* out) {
  __shared__ alignas(16) int tile[128];
  __shared__ alignas(8) std::uint64_t bar;
  const unsigned t = threadIdx.x;
  if (t == 0) MBARRIER_INIT(&bar, 1);
  __syncthreads();
  if (t < 128) {
    tile[t] = t;  // [flash attention writes]
    FENCE_PROXY_ASYNC();
    if (right) asm volatile("bar.sync 1, 128;" ::: "memory");
    if (t == 0) MBARRIER_ARRIVE(&bar);
    return;
  }
  if (t == 128) {
    MBARRIER_WAIT(&bar, 0);
    BULK_STORE(out, tile, unsigned{sizeof tile});  // [flash attention store]
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}

// Fuser #1552: each block initialises its mbarrier; another block of the cluster arrives on it,
// with no cluster barrier after the initialisation.
template <bool right>
__global__ void __cluster_dims__(2, 1, 1) fuser(int* out) {
  __shared__ alignas(8) std::uint64_t bar;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&bar, 1);  // [fuser init]
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (right) {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  } else {
    __syncthreads();
  }
  // The other block has surely begun.
  if (cluster.block_rank() == 1 && threadIdx.x == 0)
    asm volatile(
        "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, 0;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(
            shared_address(&bar))  // [fuser arrive]
        : "memory");
  if (cluster.block_rank() == 0) MBARRIER_WAIT(&bar, 0);
  out[threadIdx.x] = 1;
  cluster.sync();
}

// colibri #1099: a warp stores its accumulators, and its lanes read each other's elements without a
// __syncwarp() between.
template <bool right>
__global__ void colibri(int* out) {
  namespace wmma = nvcuda::wmma;
  __shared__ alignas(32) float tile[256];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 1.0f);
  wmma::store_matrix_sync(tile, sums, 16, wmma::mem_row_major);  // [colibri store]
  if (right) __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32)
    out[i] = static_cast<int>(tile[i]);  // [colibri reads]
}

// HeCBench layernorm-cuda, rmsnorm-cuda: a block reduction is called twice, without a barrier
// between the last read of its result and the next write.
template <bool right>
__device__ int reduced(int v, int* sums) {
  const unsigned t = threadIdx.x;
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  if (t % 32 == 0) sums[t / 32] = v;  // [reduction's write]
  __syncthreads();
  if (t == 0) {
    for (unsigned w = 1; w < blockDim.x / 32; ++w) v += sums[w];
    sums[0] = v;
  }
  __syncthreads();
  v = sums[0];  // [reduction's read]
  if (right) __syncthreads();
  return v;
}
template <bool right>
__global__ void layernorm(int* out) {
  __shared__ int sums[4];
  const int sum = reduced<right>(threadIdx.x, sums);
  out[threadIdx.x] = sum + reduced<right>(threadIdx.x * sum, sums);
}

template <auto kernel, int blocks, int threads>
void run() {
  Buffer<int> out(256);
  kernel<<<blocks, threads>>>(out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"flashkda", run<flashkda<false>, 1, 128>},
                   {"flashkda_twin", run<flashkda<true>, 1, 128>},
                   {"deepep", run<deepep<false>, 2, 128>},
                   {"deepep_twin", run<deepep<true>, 2, 128>},
                   {"deepep_stages", run<deepep_stages<false>, 1, 32>},
                   {"deepep_stages_twin", run<deepep_stages<true>, 1, 32>},
                   {"tinygemm", run<tinygemm<false>, 1, 32>},
                   {"tinygemm_twin", run<tinygemm<true>, 1, 32>},
                   {"top_k", run<top_k<false>, 1, 128>},
                   {"top_k_twin", run<top_k<true>, 1, 128>},
                   {"flash_attention", run<flash_attention<false>, 1, 160>},
                   {"flash_attention_twin", run<flash_attention<true>, 1, 160>},
                   {"fuser", run<fuser<false>, 2, 32>},
                   {"fuser_twin", run<fuser<true>, 2, 32>},
                   {"colibri", run<colibri<false>, 1, 32>},
                   {"colibri_twin", run<colibri<true>, 1, 32>},
                   {"layernorm", run<layernorm<false>, 1, 128>},
                   {"layernorm_twin", run<layernorm<true>, 1, 128>}});
}
