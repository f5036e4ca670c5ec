// All threads of a kernel launch as a group, and barriers among its blocks.
//
// Blocks may wait for one another only if all are resident at once: in a cooperative launch
// (launch_cooperative, cudaLaunchCooperativeKernel), which refuses a grid too large for the chip.
#pragma once
#include <inflight/impl/flip_barrier.cuh>
#include <inflight/impl/grid_workspace.cuh>
#include <inflight/impl/group_lanes.cuh>
#include <inflight/ptx/cluster.cuh>
#include <inflight/thread_group.cuh>

namespace inflight {

// A barrier of all blocks of a grid, in the program's own global memory. Its initial state is zero
// bytes (cudaMemset, or a __device__ variable), and each round leaves it ready for the next, also
// in a later launch. Each grid that runs at the same time needs its own. Every thread of every
// block calls each function.
class grid_barrier {
 public:
  // Waits for all blocks; what any of their threads wrote before is visible to all after. Between
  // two bar.sync, one thread of each block executes atom.acq_rel.gpu and then polls with
  // ld.acquire.gpu (PTX ISA, "Memory Consistency Model").
  INFLIGHT_DEVICE void sync() { impl::grid_sync(&word_); }

  // The two halves of sync(), for work in between that neither needs other blocks' results nor
  // produces results for them.
  INFLIGHT_DEVICE std::uint32_t arrive() { return impl::grid_arrive(&word_); }
  INFLIGHT_DEVICE void wait(std::uint32_t token) { impl::grid_wait(&word_, token); }

 private:
  std::uint32_t word_;
};

// The calling thread's grid. Made by this_grid(). Ranks are 64 bits wide.
class grid_group : public thread_group {
 public:
  using arrival_token = std::uint32_t;

  // Whether the launch provided memory for the grid's barrier. True in a cooperative launch. In
  // others, an H200's driver provides it only to kernels that synchronise the grid.
  INFLIGHT_DEVICE bool is_valid() const { return impl::grid_workspace() != 0; }

  // grid_barrier::sync() on the word that a cooperative launch reserves for each grid
  // (impl/grid_workspace.cuh). To rely on documented features only, pass a grid_barrier.
  INFLIGHT_DEVICE void sync() const { impl::grid_sync(impl::grid_word()); }
  INFLIGHT_DEVICE void sync(grid_barrier& barrier) const { barrier.sync(); }
  INFLIGHT_DEVICE arrival_token barrier_arrive() const {
    return impl::grid_arrive(impl::grid_word());
  }
  INFLIGHT_DEVICE void barrier_wait(arrival_token&& token) const {
    impl::grid_wait(impl::grid_word(), token);
  }

  // The caller's rank in [0, num_threads()): block by block, then thread by thread, x first.
  INFLIGHT_DEVICE static unsigned long long thread_rank() { return impl::grid_thread_rank(); }
  INFLIGHT_DEVICE static unsigned long long num_threads() { return impl::grid_threads(); }
  INFLIGHT_DEVICE static unsigned long long size() { return num_threads(); }

  // The caller's index in the grid, and the grid's shape, both in threads.
  INFLIGHT_DEVICE static dim3 thread_index() {
    return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z);
  }
  INFLIGHT_DEVICE static dim3 dim_threads() {
    return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
  }

  // Blocks: rank of the caller's block, number of blocks, the grid's shape (gridDim), blockIdx.
  INFLIGHT_DEVICE static unsigned long long block_rank() { return impl::grid_block_rank(); }
  INFLIGHT_DEVICE static unsigned long long num_blocks() { return impl::grid_blocks(); }
  INFLIGHT_DEVICE static dim3 dim_blocks() { return gridDim; }
  INFLIGHT_DEVICE static dim3 group_dim() { return gridDim; }
  INFLIGHT_DEVICE static dim3 block_index() { return blockIdx; }

  // Clusters: their number, rank of the caller's cluster, the grid's shape in clusters, the
  // cluster's index. sm_90.
  INFLIGHT_DEVICE static unsigned long long num_clusters() {
    const dim3 all = ptx::clusters();
    return static_cast<unsigned long long>(all.x) * all.y * all.z;
  }
  INFLIGHT_DEVICE static unsigned long long cluster_rank() {
    const dim3 all = ptx::clusters(), at = ptx::cluster_index();
    return at.x + static_cast<unsigned long long>(all.x) *
                      (at.y + static_cast<unsigned long long>(all.y) * at.z);
  }
  INFLIGHT_DEVICE static dim3 dim_clusters() { return ptx::clusters(); }
  INFLIGHT_DEVICE static dim3 cluster_index() { return ptx::cluster_index(); }

 private:
  INFLIGHT_DEVICE grid_group() : thread_group(kind::grid) {}
  friend INFLIGHT_DEVICE grid_group this_grid();
};

INFLIGHT_DEVICE grid_group this_grid() { return grid_group(); }

}  // namespace inflight
