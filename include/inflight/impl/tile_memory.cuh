// The memory through which the warps of a tile of 64 to 512 threads synchronise: a flag and a slot
// for each warp, in a block_tile_memory or in the shared memory that every block has reserved.
#pragma once
#include <inflight/base/config.cuh>
#include <inflight/impl/group_lanes.cuh>
#include <inflight/ptx/address.cuh>
#include <inflight/ptx/cluster.cuh>
#include <inflight/ptx/memory.cuh>
#include <inflight/ptx/warp.cuh>

namespace inflight {
class thread_block;
namespace impl {

// For each warp of a block, the number of barriers it has reached: two bits for each tile size,
// modulo 4. Only the warp itself writes its byte.
struct tile_flags {
  std::uint8_t of_warp[32];
};
struct alignas(32) tile_slot {
  unsigned char bytes[32];
};

// A block_tile_memory whose number of slots is not in its type.
struct tile_memory {
  tile_flags flags;
  tile_slot slot[32];
};

// The memory of a block without one: the first 288 bytes of its reserved shared memory. Cooperative
// groups use the same bytes in the same way, so they hold what others left: a word for each tile
// size, zero outside of barriers, and 8 bytes a warp of any value.
struct reserved_tile_memory {
  std::uint32_t waiting[8];
  std::uint64_t slot[32];
  INFLIGHT_DEVICE static reserved_tile_memory* of_block() {
    std::uint32_t at = ptx::reserved_shared_begin();
    if constexpr (has_sm90<>) at = ptx::map_shared_to_rank(at, ptx::cluster_block_rank());
    return static_cast<reserved_tile_memory*>(__cvta_shared_to_generic(at));
  }
};
static_assert(sizeof(reserved_tile_memory) == 288, "a block has 288 bytes reserved for its tiles");
inline constexpr unsigned reserved_slot_bytes = 8;

// The memory of a block's tiles: a block_tile_memory, or the reserved bytes. `given` says which,
// because the compiler cannot tell that an address in shared memory is not null.
struct tile_sync_memory {
  tile_memory* memory = nullptr;
  bool given = false;
};

// Initialises the block's flags; all its threads call it.
INFLIGHT_DEVICE thread_block block_with(tile_memory* memory);

// A tile of `Size` threads, 64 to 512, of the calling thread's block.
template <unsigned Size>
struct tile_place {
  static constexpr unsigned warps = Size / 32;
  // Position of the size's two bits in a flag.
  static constexpr unsigned shift = Size == 64 ? 0 : Size == 128 ? 2 : Size == 256 ? 4 : 6;

  INFLIGHT_DEVICE static unsigned first_warp() { return block_thread_rank() / Size * warps; }
  // The slot of the tile's warp `warp`: 32 bytes, or 8 of the reserved ones.
  INFLIGHT_DEVICE static void* slot(const tile_sync_memory& place, unsigned warp) {
    const unsigned at = first_warp() + warp;
    return place.given ? static_cast<void*>(&place.memory->slot[at])
                       : &reserved_tile_memory::of_block()->slot[at];
  }

  INFLIGHT_DEVICE static void sync(const tile_sync_memory& place) {
    if (place.given)
      sync_by_flags(place.memory->flags.of_warp);
    else
      sync_around(0, [] {});
  }

  // A barrier in the reserved bytes. After all have arrived and before any continues, warp `leader`
  // of the tile calls `work`. Each other warp sets its bit and waits until it is clear. The leader
  // waits for all bits and clears them at once, so that a warp may set its bit for the next barrier
  // while another has not yet read the word.
  template <class Work>
  INFLIGHT_DEVICE static void sync_around(unsigned leader, Work work) {
    std::uint32_t* waiting = &reserved_tile_memory::of_block()->waiting[shift / 2];
    const unsigned warp = block_thread_rank() / 32;
    const std::uint32_t mine = 1u << warp;
    const std::uint32_t others = ((1u << warps) - 1) << first_warp() & ~mine;
    __syncwarp();
    if (warp == first_warp() + leader) {
      while ((ptx::ld_acquire<ptx::scope::cta>(waiting) & others) != others) {
      }
      __syncwarp();
      work();
      __syncwarp();
      if (ptx::lane_id() == 0) ptx::red_and_release<ptx::scope::cta>(waiting, ~others);
    } else {
      if (ptx::lane_id() == 0) ptx::red_or_release<ptx::scope::cta>(waiting, mine);
      __syncwarp();
      while (ptx::ld_acquire<ptx::scope::cta>(waiting) & mine) {
      }
    }
    __syncwarp();
  }

 private:
  static constexpr std::uint32_t every_lane = 0xffffffffu;

  // Each warp announces its arrival, and each lane polls one of the tile's warps until that has
  // arrived too. The other warp may be one barrier ahead, but not two.
  INFLIGHT_DEVICE static void sync_by_flags(std::uint8_t* flags) {
    std::uint8_t* own = &flags[block_thread_rank() / 32];
    const std::uint32_t before = ptx::ld_relaxed<ptx::scope::cta>(own);
    const std::uint32_t round = (before >> shift) + 1;
    __syncwarp();
    if (ptx::lane_id() == 0)
      ptx::st_release<ptx::scope::cta>(own, (before & ~(3u << shift)) | (round & 3) << shift);
    const std::uint8_t* other = &flags[first_warp() + ptx::lane_id() % warps];
    while (
        !ptx::vote_all(every_lane, has_arrived(ptx::ld_acquire<ptx::scope::cta>(other), round))) {
    }
    __syncwarp();
  }
  INFLIGHT_DEVICE static bool has_arrived(std::uint32_t flag, std::uint32_t round) {
    return (((flag >> shift) - round) & 3) < 2;
  }
};

}  // namespace impl
}  // namespace inflight
