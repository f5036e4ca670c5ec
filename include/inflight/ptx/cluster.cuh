// Blocks of a cluster: PTX ISA, "barrier.cluster", "mapa", "getctarank", "Special Registers:
// %cluster_ctaid" and the related registers. sm_90.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight::ptx {

// Arrives. Threads that wait see the caller's earlier accesses. All lanes of the warp must execute
// it converged.
INFLIGHT_DEVICE void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

// The same without memory ordering.
INFLIGHT_DEVICE void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

// Waits until every thread of the cluster that has not exited has arrived.
INFLIGHT_DEVICE void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Address in block `rank` of the cluster of the variable at `address` in this block: a generic
// address, and one of the shared::cluster window.
INFLIGHT_DEVICE std::uint64_t map_to_rank(std::uint64_t address, std::uint32_t rank) {
  std::uint64_t mapped;
  asm("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(address), "r"(rank));
  return mapped;
}
INFLIGHT_DEVICE std::uint32_t map_shared_to_rank(std::uint32_t address, std::uint32_t rank) {
  std::uint32_t mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

// Rank in the cluster of the block that a generic address of shared memory belongs to.
INFLIGHT_DEVICE std::uint32_t rank_of(std::uint64_t address) {
  std::uint32_t rank;
  asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(address));
  return rank;
}

// This block's rank in its cluster, x first.
INFLIGHT_DEVICE std::uint32_t cluster_block_rank() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

INFLIGHT_DEVICE std::uint32_t cluster_blocks() {
  std::uint32_t blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

// Index of this block in its cluster; the cluster's shape in blocks; index of this cluster in the
// grid; the grid's shape in clusters.
INFLIGHT_DEVICE dim3 cluster_block_index() {
  dim3 d;
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(d.x));
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(d.y));
  asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(d.z));
  return d;
}
INFLIGHT_DEVICE dim3 cluster_shape() {
  dim3 d;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(d.x));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(d.y));
  asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(d.z));
  return d;
}
INFLIGHT_DEVICE dim3 cluster_index() {
  dim3 d;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(d.x));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(d.y));
  asm("mov.u32 %0, %%clusterid.z;" : "=r"(d.z));
  return d;
}
INFLIGHT_DEVICE dim3 clusters() {
  dim3 d;
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(d.x));
  asm("mov.u32 %0, %%nclusterid.y;" : "=r"(d.y));
  asm("mov.u32 %0, %%nclusterid.z;" : "=r"(d.z));
  return d;
}

}  // namespace inflight::ptx
