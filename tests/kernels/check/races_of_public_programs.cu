// Races that public programs have had, each as its smallest kernel.
#include <cooperative_groups.h>

#include "tests/kernels/check/ptx_macros.cuh"

namespace cg = cooperative_groups;

// DeepEP #621 and flash-attention #2033: threads write a tile, a barrier, one thread stores it in
// bulk; nobody fences the generic proxy against the async one.
template <bool right>
__global__ void deepep(int* out) {
  __shared__ alignas(16) int tile[128];
  tile[threadIdx.x] = threadIdx.x;  // [deepep writes]
  if (right) FENCE_PROXY_ASYNC();
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(out, tile, unsigned{sizeof tile});  // [deepep store]
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

// colibri #1099: lanes store a matrix, one lane stores it in bulk, with no __syncwarp() between.
template <bool right>
__global__ void colibri(int* out) {
  __shared__ alignas(128) int tile[128];
  const unsigned row = shared_address(tile) + threadIdx.x * 16;
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(row),
               "r"(threadIdx.x)  // [colibri matrix]
               : "memory");
  FENCE_PROXY_ASYNC();
  if (right) __syncwarp();
  if (threadIdx.x == 0) {
    BULK_STORE(out, tile, unsigned{sizeof tile});  // [colibri store]
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}

// HeCBench layernorm-cuda, rmsnorm-cuda: a block's reduction is called twice, and nothing stands
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
  Buffer<int> out(128);
  kernel<<<blocks, threads>>>(out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"deepep", run<deepep<false>, 1, 128>},
                   {"deepep_twin", run<deepep<true>, 1, 128>},
                   {"fuser", run<fuser<false>, 2, 32>},
                   {"fuser_twin", run<fuser<true>, 2, 32>},
                   {"colibri", run<colibri<false>, 1, 32>},
                   {"colibri_twin", run<colibri<true>, 1, 32>},
                   {"layernorm", run<layernorm<false>, 1, 128>},
                   {"layernorm_twin", run<layernorm<true>, 1, 128>}});
}
