// arch: sm_90
// Copies that reduce use what they find at the destination, and what they add.
#include "tests/kernels/check/ptx_macros.cuh"

#define BULK_ADD(to, from, bytes)                                                             \
  asm volatile(                                                                               \
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(to), \
      "r"(shared_address(from)), "r"(static_cast<unsigned>(bytes))                            \
      : "memory")
#define ADD_TO_PEER(to, bar)                                                                     \
  asm volatile(                                                                                  \
      "{ .reg .b32 peer, to, on; mov.u32 peer, %%cluster_ctarank; xor.b32 peer, peer, 1;\n"      \
      "mapa.shared::cluster.u32 to, %0, peer; mapa.shared::cluster.u32 on, %1, peer;\n"          \
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [to], 1, " \
      "[on]; }" ::"r"(shared_address(to)),                                                       \
      "r"(shared_address(bar))                                                                   \
      : "memory")

constexpr int n = 64;

int* sums(bool zero) {
  int* p = nullptr;
  cudaMalloc(&p, n * sizeof(int));
  if (zero) cudaMemset(p, 0, n * sizeof(int));
  return p;
}

// The first `written` numbers of the tile are added to global memory.
__global__ void add_tile(int* sums, int written, int* out) {
  __shared__ alignas(16) int tile[n];
  const int t = threadIdx.x;
  if (t < written) tile[t] = t;
  FENCE_PROXY_ASYNC();
  __syncthreads();
  if (t == 0) {
    BULK_ADD(sums, tile, sizeof tile);  // [adds]
    BULK_COMMIT();
    BULK_WAIT(0);
  }
  __syncthreads();
  if (out) out[t] = sums[t] + 1;  // [uses the sum]
}

// Each block of the cluster adds to the next one's counter.
template <bool starts_at_zero>
__global__ void __cluster_dims__(2) add_to_peer(int* out) {
  __shared__ int count;
  __shared__ std::uint64_t bar;
  if (threadIdx.x == 0) {
    if (starts_at_zero) count = 0;
    MBARRIER_INIT(&bar, 1);
    MBARRIER_EXPECT(&bar, 32 * 4);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  ADD_TO_PEER(&count, &bar);  // [adds to the peer]
  MBARRIER_WAIT(&bar, 0);
  if (threadIdx.x == 0) out[blockIdx.x] = count;
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"global", [] { add_tile<<<1, n>>>(sums(false), n, nullptr); }},
                   {"global_twin", [] { add_tile<<<1, n>>>(sums(true), n, sums(true)); }},
                   {"tile", [] { add_tile<<<1, n>>>(sums(true), n - 4, sums(true)); }},
                   {"tile_not_used_twin", [] { add_tile<<<1, n>>>(sums(true), n - 4, nullptr); }},
                   {"shared", [] { add_to_peer<false><<<2, 32>>>(Buffer<int>(2)); }},
                   {"shared_twin", [] { add_to_peer<true><<<2, 32>>>(Buffer<int>(2)); }}});
}
