// Scratch memory of tiles of several warps: a barrier word for every tile there can be, and a slot
// for every warp.
#pragma once
#include <inflight/impl/config.cuh>
#include <inflight/impl/flip_barrier.cuh>
#include <inflight/impl/group_lanes.cuh>

namespace inflight {
class thread_block;
namespace impl {

struct tile_barriers {
  std::uint32_t word[32];
};
struct alignas(32) tile_slot {
  unsigned char bytes[32];
};

// A block_tile_memory whose number of slots is not in its type.
struct tile_memory {
  static constexpr unsigned words = 32;
  std::uint32_t word[words];
  tile_slot slot[32];
};

// Makes the block's barriers ready; all its threads call it.
INFLIGHT_DEVICE thread_block block_with(tile_memory* memory);

// A tile of `Size` threads, 64 to 512, of the calling thread's block.
template <unsigned Size>
struct tile_place {
  // The tile's barrier: sixteen words for tiles of 64, then eight for 128, four for 256, two for
  // 512.
  INFLIGHT_DEVICE static std::uint32_t* word(tile_memory* memory) {
    return &memory->word[tile_memory::words - 2048 / Size + block_thread_rank() / Size];
  }
  // The slot of the tile's warp `warp`.
  INFLIGHT_DEVICE static void* slot(tile_memory* memory, unsigned warp) {
    return &memory->slot[block_thread_rank() / Size * (Size / 32) + warp];
  }
  INFLIGHT_DEVICE static void sync(tile_memory* memory) {
    __syncwarp();
    if (ptx::lane_id() == 0)
      flip_sync<ptx::scope::cta>(word(memory),
                                 flip_share(block_thread_rank() % Size == 0, Size / 32));
    __syncwarp();
  }
};

}  // namespace impl
}  // namespace inflight
