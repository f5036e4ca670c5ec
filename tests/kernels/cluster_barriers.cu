// mbarriers of other blocks: arrivals, transaction counts and drops from the cluster.
// async: late early shuffled:1
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ unsigned map(unsigned address, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ void wait(unsigned bar, unsigned parity) {
  asm volatile(
      "{ .reg .pred p;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra again; }" ::"r"(bar),
      "r"(parity)
      : "memory");
}

// Each round, rank 0 collects a value from every block, which arrives at rank 0's mbarrier. It
// answers through the blocks' mbarriers.
__global__ void collect(int* out, int rounds) {
  __shared__ alignas(8) unsigned long long full, empty;
  __shared__ int values[8];
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), count = cluster.num_blocks();
  const auto full_at = static_cast<unsigned>(__cvta_generic_to_shared(&full)),
             empty_at = static_cast<unsigned>(__cvta_generic_to_shared(&empty)),
             values_at = static_cast<unsigned>(__cvta_generic_to_shared(values));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(full_at), "r"(count));
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(empty_at));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    for (int r = 0; r < rounds; ++r) {
      const int value = (rank + 1) * 10 + r;
      asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(map(values_at + 4 * rank, 0)),
                   "r"(value)
                   : "memory");
      asm volatile(
          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(map(full_at, 0))
          : "memory");
      if (rank == 0) {
        wait(full_at, r & 1);
        int sum = 0;
        for (unsigned i = 0; i < count; ++i) sum += values[i];
        out[blockIdx.x / count * rounds + r] = sum;
        for (unsigned i = 0; i < count; ++i)
          asm volatile(
              "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(map(empty_at, i))
              : "memory");
      }
      wait(empty_at, r & 1);
    }
  }
  cluster.sync();
}

// Transaction bytes are expected here and completed there.
__global__ void transactions(int* out) {
  __shared__ alignas(8) unsigned long long bar;
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(at));
  cluster.sync();
  if (threadIdx.x == 0) {
    const unsigned there = map(at, rank ^ 1);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 48;" ::"r"(at) : "memory");
    asm volatile(
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 16;" ::"r"(there)
        : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 24;" ::"r"(there)
                 : "memory");
    asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], 8;" ::"r"(there)
                 : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 48;" ::"r"(there)
                 : "memory");
    wait(at, 0);
    out[blockIdx.x] = 1;
  }
  cluster.sync();
}

template <class... P, class... A>
void launch(void (*kernel)(P...), int blocks, int cluster, A&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks, config.blockDim = 32;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {unsigned(cluster), 1, 1};
  config.attrs = &attribute, config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...));
}

int main() {
  constexpr int rounds = 6;
  for (int cluster : {1, 2, 4, 8}) {
    Buffer<int> out(16 / cluster * rounds);
    launch(collect, 16, cluster, out, rounds);
    std::printf("clusters of %d, ", cluster);
    print("sums", out.read(), rounds);
  }
  Buffer<int> done(8);
  launch(transactions, 8, 2, done);
  print("transactions", done.read());
}
