// The blocks of a thread block cluster as a group, and access to one another's shared memory.
// sm_90: PTX ISA, "barrier.cluster", "mapa"; CUDA C++ Programming Guide, "Thread Block Clusters".
#pragma once
#include <inflight/impl/group_lanes.cuh>
#include <inflight/ptx/cluster.cuh>

namespace inflight {

class cluster_group;

// The caller's cluster. Call it without template arguments. In a kernel launched without clusters,
// each block is a cluster.
template <class Chip = void>
INFLIGHT_DEVICE cluster_group this_cluster();

// The cluster of the calling thread's block. Made by this_cluster(). Ranks count x first.
class cluster_group {
 public:
  struct arrival_token {};

  // Every thread of the cluster waits for all; what each wrote before, other blocks' shared memory
  // included, is visible to all after. barrier.cluster.arrive and wait; the warp's lanes must be
  // converged.
  INFLIGHT_DEVICE static void sync() {
    ptx::cluster_arrive();
    ptx::cluster_wait();
  }
  // The same in two halves; all threads call each once a round.
  INFLIGHT_DEVICE static arrival_token barrier_arrive() {
    ptx::cluster_arrive();
    return {};
  }
  INFLIGHT_DEVICE static void barrier_wait() { ptx::cluster_wait(); }
  INFLIGHT_DEVICE static void barrier_wait(arrival_token&&) { ptx::cluster_wait(); }

  // The address, in block `rank` of the cluster, of the variable at `address` in the caller's
  // shared memory. A generic pointer, valid only until that block exits: sync() before a block
  // ends.
  template <class T>
  INFLIGHT_DEVICE static T* map_shared_rank(T* address, int rank) {
    return reinterpret_cast<T*>(
        ptx::map_to_rank(reinterpret_cast<std::uint64_t>(address), unsigned(rank)));
  }
  // Rank of the block that a pointer to shared memory belongs to.
  INFLIGHT_DEVICE static unsigned query_shared_rank(const void* address) {
    return ptx::rank_of(reinterpret_cast<std::uint64_t>(address));
  }

  // Threads: their number, the caller's rank, the cluster's shape in threads, the caller's index.
  INFLIGHT_DEVICE static unsigned num_threads() { return num_blocks() * impl::block_threads(); }
  INFLIGHT_DEVICE static unsigned size() { return num_threads(); }
  INFLIGHT_DEVICE static unsigned thread_rank() {
    return block_rank() * impl::block_threads() + impl::block_thread_rank();
  }
  INFLIGHT_DEVICE static dim3 dim_threads() {
    const dim3 blocks = ptx::cluster_shape();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  INFLIGHT_DEVICE static dim3 thread_index() {
    const dim3 at = ptx::cluster_block_index();
    return dim3(at.x * blockDim.x + threadIdx.x, at.y * blockDim.y + threadIdx.y,
                at.z * blockDim.z + threadIdx.z);
  }

  // The same for blocks.
  INFLIGHT_DEVICE static unsigned num_blocks() { return ptx::cluster_blocks(); }
  INFLIGHT_DEVICE static unsigned block_rank() { return ptx::cluster_block_rank(); }
  INFLIGHT_DEVICE static dim3 dim_blocks() { return ptx::cluster_shape(); }
  INFLIGHT_DEVICE static dim3 block_index() { return ptx::cluster_block_index(); }

 private:
  INFLIGHT_DEVICE cluster_group() {}
  template <class Chip>
  friend INFLIGHT_DEVICE cluster_group this_cluster();
};

template <class Chip>
INFLIGHT_DEVICE cluster_group this_cluster() {
  static_assert(impl::has_sm90<Chip>,
                "thread block clusters need sm_90 or later: compile with -arch=sm_90 or higher");
  return cluster_group();
}

}  // namespace inflight
