// Where the warps of a tile of 64 to 512 threads meet: a barrier for every tile there can be, and a
// slot for every warp. In a block_tile_memory, or in the shared memory that every block has
// reserved.
#pragma once
#include <inflight/impl/config.cuh>
#include <inflight/impl/flip_barrier.cuh>
#include <inflight/impl/group_lanes.cuh>
#include <inflight/ptx/address.cuh>

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

// What a block without one has: the first 288 bytes of its shared memory, zero when it starts. A
// word for each size of tiles, and 8 bytes a warp. All is zero again after every barrier, as others
// who use these bytes expect.
struct reserved_tile_memory {
  std::uint32_t waiting[8];
  std::uint64_t slot[32];
  INFLIGHT_DEVICE static reserved_tile_memory* of_block() {
    return static_cast<reserved_tile_memory*>(
        __cvta_shared_to_generic(ptx::reserved_shared_begin()));
  }
};
inline constexpr unsigned reserved_slot_bytes = 8;

// Makes the block's barriers ready; all its threads call it.
INFLIGHT_DEVICE thread_block block_with(tile_memory* memory);

// A tile of `Size` threads, 64 to 512, of the calling thread's block. `memory` is null where the
// block has only what is reserved.
template <unsigned Size>
struct tile_place {
  static constexpr unsigned warps = Size / 32;

  // The tile's barrier: sixteen words for tiles of 64, then eight for 128, four for 256, two for
  // 512.
  INFLIGHT_DEVICE static std::uint32_t* word(tile_memory* memory) {
    return &memory->word[tile_memory::words - 2048 / Size + block_thread_rank() / Size];
  }
  // The slot of the tile's warp `warp`: 32 bytes, or 8 of the reserved ones.
  INFLIGHT_DEVICE static void* slot(tile_memory* memory, unsigned warp) {
    const unsigned at = block_thread_rank() / Size * warps + warp;
    return memory != nullptr ? static_cast<void*>(&memory->slot[at])
                             : &reserved_tile_memory::of_block()->slot[at];
  }
  INFLIGHT_DEVICE static void sync(tile_memory* memory) {
    __syncwarp();
    if (ptx::lane_id() == 0) {
      if (memory != nullptr)
        flip_sync<ptx::scope::cta>(word(memory),
                                   flip_share(block_thread_rank() % Size == 0, warps));
      else
        reserved_sync();
    }
    __syncwarp();
  }

 private:
  // Each warp sets its bit and waits until it is gone. The last clears those of the tile, so that a
  // warp may set its bit for the next barrier while another has not looked yet.
  INFLIGHT_DEVICE static void reserved_sync() {
    constexpr unsigned size = Size == 64 ? 0 : Size == 128 ? 1 : Size == 256 ? 2 : 3;
    std::uint32_t* waiting = &reserved_tile_memory::of_block()->waiting[size];
    const std::uint32_t mine = 1u << block_thread_rank() / 32;
    const std::uint32_t all = ((1u << warps) - 1) << block_thread_rank() / Size * warps;
    const std::uint32_t before = ptx::atom_or_acq_rel<ptx::scope::cta>(waiting, mine);
    if (((before | mine) & all) == all) {
      ptx::red_and_release<ptx::scope::cta>(waiting, ~all);
    } else {
      while (ptx::ld_acquire<ptx::scope::cta>(waiting) & mine) {
      }
    }
  }
};

}  // namespace impl
}  // namespace inflight
