// The threads of a block as a group, and scratch memory for its tiles of several warps.
#pragma once
#include <inflight/impl/group_lanes.cuh>
#include <inflight/impl/group_traits.cuh>
#include <inflight/impl/tile_memory.cuh>
#include <inflight/thread_group.cuh>

namespace inflight {

// The calling thread's block. Made by this_thread_block().
class thread_block : public thread_group {
 public:
  // Returned by barrier_arrive and taken by barrier_wait.
  struct arrival_token {};

  // Every thread of the block waits for all; what each wrote before is visible to all after.
  // bar.sync 0 (CUDA C++ Programming Guide, "Synchronization Functions").
  INFLIGHT_DEVICE static void sync() { __syncthreads(); }

  // The two halves of sync(); all threads call each once a round. The hardware's barrier has no
  // such halves, so barrier_wait does all of it.
  INFLIGHT_DEVICE static arrival_token barrier_arrive() { return {}; }
  INFLIGHT_DEVICE static void barrier_wait(arrival_token&&) { sync(); }

  // The caller's rank in [0, num_threads()), x first.
  INFLIGHT_DEVICE static unsigned thread_rank() { return impl::block_thread_rank(); }
  INFLIGHT_DEVICE static unsigned num_threads() { return impl::block_threads(); }
  INFLIGHT_DEVICE static unsigned size() { return num_threads(); }

  // threadIdx, blockDim and blockIdx.
  INFLIGHT_DEVICE static dim3 thread_index() { return threadIdx; }
  INFLIGHT_DEVICE static dim3 dim_threads() { return blockDim; }
  INFLIGHT_DEVICE static dim3 group_dim() { return blockDim; }
  INFLIGHT_DEVICE static dim3 group_index() { return blockIdx; }

  // Where tiles of several warps synchronise: the block's block_tile_memory, or the reserved bytes.
  INFLIGHT_DEVICE impl::tile_sync_memory tile_sync_memory() const { return place_; }

  thread_block(const thread_block&) = default;

 private:
  INFLIGHT_DEVICE explicit thread_block(const impl::tile_sync_memory& place)
      : thread_group(kind::block), place_(place) {}
  friend INFLIGHT_DEVICE thread_block this_thread_block();
  friend INFLIGHT_DEVICE thread_block impl::block_with(impl::tile_memory*);
  impl::tile_sync_memory place_;
};

INFLIGHT_DEVICE thread_block this_thread_block() { return thread_block(impl::tile_sync_memory{}); }

namespace impl {
INFLIGHT_DEVICE thread_block block_with(tile_memory* memory) {
  for (unsigned warp = block_thread_rank(); warp < 32; warp += block_threads())
    memory->flags.of_warp[warp] = 0;
  __syncthreads();
  return thread_block({memory, true});
}
}  // namespace impl

// Scratch for a block's tiles of 64 to 512 threads, in shared or global memory, one object for each
// block: 32 bytes of flags, and 32 bytes for each warp, the largest value of a collective. It may
// be uninitialised. Without it, such tiles use the shared memory that each block has reserved (PTX
// ISA, "%reserved_smem_offset_begin"), where a value of more than 8 bytes takes several rounds and
// a barrier takes longer.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  static_assert(MaxBlockSize > 0 && MaxBlockSize <= 1024, "a block has at most 1024 threads");
  impl::tile_flags flags;
  impl::tile_slot slots[(MaxBlockSize + 31) / 32];
};

// The block, with scratch memory for wide tiles. A collective of the whole block: it initialises
// the memory and is a barrier. The block may have at most MaxBlockSize threads.
template <unsigned MaxBlockSize>
INFLIGHT_DEVICE thread_block this_thread_block(block_tile_memory<MaxBlockSize>& memory) {
  return impl::block_with(reinterpret_cast<impl::tile_memory*>(&memory));
}

// The names that programs written before CUDA 12 use. TileCommunicationSize, the bytes requested
// for each warp, has no effect: a warp always has 32 bytes, so no collective needs two rounds.
namespace experimental {
template <unsigned TileCommunicationSize = 8, unsigned MaxBlockSize = 1024>
struct block_tile_memory : inflight::block_tile_memory<MaxBlockSize> {};

template <unsigned TileCommunicationSize, unsigned MaxBlockSize>
INFLIGHT_DEVICE thread_block
this_thread_block(block_tile_memory<TileCommunicationSize, MaxBlockSize>& memory) {
  return inflight::this_thread_block<MaxBlockSize>(memory);
}
}  // namespace experimental

}  // namespace inflight
