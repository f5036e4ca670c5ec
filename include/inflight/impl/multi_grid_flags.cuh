// The barrier of several GPUs' grids: flags in each GPU's memory.
#pragma once
#include <inflight/impl/grid_workspace.cuh>

namespace inflight::impl {

inline constexpr unsigned most_grids = 8;

// One for each GPU, in its memory. `arrived` counts its own blocks. `round[r]` is the number of
// rounds that grid r has completed; that grid writes it. Rounds continue from launch to launch, and
// may wrap.
struct multi_grid_flags {
  std::uint32_t round[32];
  std::uint32_t arrived;
};

// The handle of the last launch from this translation unit, as the 8-byte words of a
// multi_grid_handle, so that it needs no initialisation.
static __device__ std::uint64_t current_multi_grid[most_grids + 2];

// `flags` is indexed only by constants, so that a table among a kernel's parameters stays there and
// is not copied to local memory.
INFLIGHT_DEVICE void multi_grid_sync(multi_grid_flags* const (&flags)[most_grids],
                                     multi_grid_flags* own, unsigned rank, unsigned count) {
  using ptx::scope;
  const unsigned thread = block_thread_rank(), threads = block_threads();
  // The own grid's flag changes only after this block has arrived.
  std::uint32_t round = 0;
  if (thread < count) round = ptx::ld_relaxed<scope::sys>(&own->round[rank]) + 1;
  __syncthreads();
  if (thread == 0) {
    const std::uint32_t blocks = gridDim.x * gridDim.y * gridDim.z;
    if (ptx::atom_add_acq_rel<scope::gpu>(&own->arrived, 1u) == blocks - 1) {
      ptx::st_relaxed<scope::gpu>(&own->arrived, 0u);
      ptx::fence_acq_rel<scope::sys>();
#pragma unroll
      for (unsigned peer = 0; peer < most_grids; ++peer)
        if (peer < count) ptx::st_relaxed<scope::sys>(&flags[peer]->round[rank], round);
    }
  }
  // One flag a thread, all polled at once.
  for (unsigned peer = thread; peer < count; peer += threads)
    while (int(ptx::ld_acquire<scope::sys>(&own->round[peer]) - round) < 0) {
    }
  __syncthreads();
}

}  // namespace inflight::impl
