// Tiles: equal groups of 1 to 512 threads of a block, of a size known at compile time.
#pragma once
#include <inflight/thread_block.cuh>

namespace inflight {

template <unsigned Size, class Parent = void>
class thread_block_tile;

namespace impl {

// Mask of the lanes in the tile of `Size` that contains `lane`.
template <unsigned Size>
INFLIGHT_DEVICE std::uint32_t tile_lanes(unsigned lane) {
  if constexpr (Size == 32)
    return 0xffffffffu;
  else
    return ((1u << Size) - 1) << (lane & (32 - Size));
}

// The members of tiles within one warp. Shuffles, votes and matches use thread_rank() as index and
// are collectives: all threads of the tile call them. Each is one instruction for each 4 bytes.
// Rules: PTX ISA, "shfl.sync", "vote.sync", "match.sync".
template <unsigned Size>
class warp_tile : public thread_group {
 public:
  INFLIGHT_DEVICE static constexpr unsigned num_threads() { return Size; }
  INFLIGHT_DEVICE static constexpr unsigned size() { return Size; }
  INFLIGHT_DEVICE unsigned thread_rank() const { return lane_ & (Size - 1); }

  // Mask of the tile's lanes in its warp. An extension: cooperative groups hide it.
  INFLIGHT_DEVICE std::uint32_t mask() const { return lanes(); }

  // bar.warp.sync: waits for the tile's threads and orders their accesses to memory.
  INFLIGHT_DEVICE void sync() const { ptx::warp_sync(mask()); }

  // shfl: the value of the thread of rank `source`, modulo the tile's size. shfl_up, shfl_down:
  // that of the thread `delta` ranks below or above, or the caller's own if there is none.
  // shfl_xor: that of the thread at the caller's rank xor `ranks`. T is trivially copyable and at
  // most 32 bytes.
  template <class T>
  INFLIGHT_DEVICE T shfl(T value, unsigned source) const {
    return by_words(value,
                    [&](std::uint32_t word) { return ptx::shfl<int(Size)>(mask(), word, source); });
  }
  template <class T>
  INFLIGHT_DEVICE T shfl_up(T value, unsigned delta) const {
    return by_words(
        value, [&](std::uint32_t word) { return ptx::shfl_up<int(Size)>(mask(), word, delta); });
  }
  template <class T>
  INFLIGHT_DEVICE T shfl_down(T value, unsigned delta) const {
    return by_words(
        value, [&](std::uint32_t word) { return ptx::shfl_down<int(Size)>(mask(), word, delta); });
  }
  template <class T>
  INFLIGHT_DEVICE T shfl_xor(T value, unsigned ranks) const {
    return by_words(
        value, [&](std::uint32_t word) { return ptx::shfl_xor<int(Size)>(mask(), word, ranks); });
  }

  // Whether the predicate is non-zero in any thread; in all threads; and in which ones, bit r for
  // rank r.
  INFLIGHT_DEVICE int any(int predicate) const { return ptx::vote_any(mask(), predicate != 0); }
  INFLIGHT_DEVICE int all(int predicate) const { return ptx::vote_all(mask(), predicate != 0); }
  INFLIGHT_DEVICE unsigned ballot(int predicate) const {
    return ptx::ballot(mask(), predicate != 0) >> first_lane();
  }

  // match_any: mask of the ranks that hold the caller's value. match_all: all ranks if all hold the
  // same value, else 0; `same` is set accordingly. Values are compared as bytes, at most 8.
  template <class T>
  INFLIGHT_DEVICE unsigned match_any(T value) const {
    return ptx::match_any(mask(), comparable(value)) >> first_lane();
  }
  template <class T>
  INFLIGHT_DEVICE unsigned match_all(T value, int& same) const {
    bool equal;
    const unsigned lanes = ptx::match_all(mask(), comparable(value), equal);
    same = equal;
    return lanes >> first_lane();
  }

  INFLIGHT_DEVICE static constexpr impl::tile_sync_memory tile_sync_memory() { return {}; }

 protected:
  INFLIGHT_DEVICE explicit warp_tile(const impl::tile_sync_memory&) : warp_tile(ptx::lane_id()) {}

 private:
  INFLIGHT_DEVICE explicit warp_tile(unsigned lane)
      : thread_group(kind::lanes, tile_lanes<Size>(lane)), lane_(lane) {}
  INFLIGHT_DEVICE unsigned first_lane() const { return lane_ & (32 - Size); }

  // Read once: the compiler does not know that every read of %laneid is the same.
  unsigned lane_;
};

// The members of tiles of several warps, which communicate through block_tile_memory or, without
// it, through the block's reserved shared memory. All threads of the tile take part in every call.
// The block's size must be a multiple of Size.
template <unsigned Size>
class wide_tile {
 public:
  INFLIGHT_DEVICE static constexpr unsigned num_threads() { return Size; }
  INFLIGHT_DEVICE static constexpr unsigned size() { return Size; }
  INFLIGHT_DEVICE static unsigned thread_rank() { return block_thread_rank() & (Size - 1); }

  // Waits for the tile's threads, with one flag a warp. Uses none of the block's sixteen barriers
  // and no atomics.
  INFLIGHT_DEVICE void sync() const { tile_place<Size>::sync(place_); }

  // The value of the thread of rank `source`, which must be the same in all threads. Costs two
  // sync(), or without block_tile_memory one for each 8 bytes.
  template <class T>
  INFLIGHT_DEVICE T shfl(T value, unsigned source) const {
    static_assert(moves_as_bytes<T> && sizeof(T) <= 32,
                  "a shuffled value must be trivially copyable and have at most 32 bytes");
    if (place_.given) {
      if (thread_rank() == source) memcpy(scratch<char>(0), &value, sizeof(T));
      sync();
      memcpy(&value, scratch<char>(0), sizeof(T));
      sync();
      return value;
    }
    in_rounds<sizeof(T)>([&](unsigned from, unsigned bytes) {
      char* const part = reinterpret_cast<char*>(&value) + from;
      sync_around(source / 32, [&] {
        if (thread_rank() == source)
          for (unsigned warp = 0; warp < Size / 32; ++warp)
            memcpy(scratch<char>(warp), part, bytes);
      });
      memcpy(part, scratch<char>(thread_rank() / 32), bytes);
    });
    return value;
  }

  // Whether the predicate is non-zero in any thread; in all threads. Same cost as shfl() of an int.
  INFLIGHT_DEVICE int any(int predicate) const {
    return vote(ptx::vote_any(0xffffffffu, predicate != 0),
                [](bool mine) { return ptx::vote_any(0xffffffffu, mine); });
  }
  INFLIGHT_DEVICE int all(int predicate) const {
    return vote(ptx::vote_all(0xffffffffu, predicate != 0),
                [](bool mine) { return ptx::vote_all(0xffffffffu, mine); });
  }

  // Extensions for collectives. Whether the block has block_tile_memory: each warp then has 32
  // bytes of it, contiguous with the next warp's, and a writer calls sync() before and after others
  // read.
  INFLIGHT_DEVICE bool has_memory() const { return place_.given; }
  // Otherwise each warp has 8 bytes and sync_around(): when all threads have arrived and before any
  // continues, those of warp `leader` call work(). A warp calls __syncwarp(), writes its own bytes
  // and calls sync_around(). Only the leader, in work(), writes other warps' bytes.
  template <class Work>
  INFLIGHT_DEVICE void sync_around(unsigned leader, Work work) const {
    tile_place<Size>::sync_around(leader, work);
  }
  template <class T>
  INFLIGHT_DEVICE T* scratch(unsigned warp) const {
    return static_cast<T*>(tile_place<Size>::slot(place_, warp));
  }
  INFLIGHT_DEVICE unsigned scratch_bytes() const {
    return place_.given ? sizeof(tile_slot) : reserved_slot_bytes;
  }

  // Gathers one value of each warp in all threads: `all` has one element for each warp. The one
  // thread of a warp whose `is_source` is true supplies the warp's element. Two sync() a round. An
  // extension.
  template <class T>
  INFLIGHT_DEVICE void gather(bool is_source, T* all) const {
    const unsigned own = thread_rank() / 32;
    in_rounds<sizeof(T)>([&](unsigned from, unsigned bytes) {
      __syncwarp();
      if (is_source) memcpy(scratch<char>(own), reinterpret_cast<char*>(&all[own]) + from, bytes);
      sync();
      for (unsigned warp = 0; warp < Size / 32; ++warp)
        memcpy(reinterpret_cast<char*>(&all[warp]) + from, scratch<char>(warp), bytes);
      sync();
    });
  }

  INFLIGHT_DEVICE impl::tile_sync_memory tile_sync_memory() const { return place_; }

 protected:
  INFLIGHT_DEVICE explicit wide_tile(const impl::tile_sync_memory& place) : place_(place) {}

 private:
  // Calls round(from, bytes) for the parts of a value that fit a warp's scratch: one, or 8 bytes
  // each.
  template <unsigned Bytes, class Round>
  INFLIGHT_DEVICE void in_rounds(Round round) const {
    if (Bytes <= scratch_bytes()) {
      round(0, Bytes);
    } else {
#pragma unroll
      for (unsigned from = 0; from < Bytes; from += reserved_slot_bytes)
        round(from, Bytes - from < reserved_slot_bytes ? Bytes - from : reserved_slot_bytes);
    }
  }
  // Combines the warps' votes into one result for all threads.
  template <class Combine>
  INFLIGHT_DEVICE int vote(int mine, Combine combine) const {
    const unsigned warp = thread_rank() / 32, lane = ptx::lane_id();
    const auto together = [&] { return combine(*scratch<int>(lane % (Size / 32)) != 0); };
    __syncwarp();
    if (lane == 0) *scratch<int>(warp) = mine;
    if (place_.given) {
      sync();
      const int all = together();
      sync();
      return all;
    }
    sync_around(0, [&] {
      const int all = together();
      __syncwarp();
      if (lane < Size / 32) *scratch<int>(lane) = all;
    });
    return *scratch<int>(warp);
  }
  impl::tile_sync_memory place_;
};

template <unsigned Size>
using tile_base = std::conditional_t<(Size <= 32), warp_tile<Size>, wide_tile<Size>>;

}  // namespace impl

// `Size` neighbouring threads of a block; Size is 1, 2, 4, ... 512. Made by tiled_partition<Size>.
template <unsigned Size>
class thread_block_tile<Size, void> : public impl::tile_base<Size> {
  static_assert(Size != 0 && (Size & (Size - 1)) == 0 && Size <= 512,
                "a tile has 1, 2, 4, 8, 16, 32, 64, 128, 256 or 512 threads");

 public:
  // The number of tiles that the parent was cut into, and the index of this one.
  INFLIGHT_DEVICE unsigned meta_group_size() const { return meta_size_; }
  INFLIGHT_DEVICE unsigned meta_group_rank() const { return meta_rank_; }

 protected:
  INFLIGHT_DEVICE thread_block_tile(const impl::tile_sync_memory& place, unsigned rank,
                                    unsigned size)
      : impl::tile_base<Size>(place), meta_rank_(rank), meta_size_(size) {}

 private:
  friend INFLIGHT_DEVICE thread_block_tile<1, void> this_thread();
  unsigned meta_rank_, meta_size_;
};

// A tile whose type also names the group that was cut. It is also a thread_block_tile<Size>.
template <unsigned Size, class Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
 private:
  INFLIGHT_DEVICE thread_block_tile(const impl::tile_sync_memory& place, const Parent& parent)
      : thread_block_tile<Size, void>(place, parent.thread_rank() / Size,
                                      (parent.num_threads() + Size - 1) / Size) {}
  template <unsigned Part, class Whole>
  friend INFLIGHT_DEVICE thread_block_tile<Part, Whole> tiled_partition(const Whole&);
};

// The calling thread alone, as a group.
INFLIGHT_DEVICE thread_block_tile<1, void> this_thread() { return {{}, 0, 1}; }

// Cuts a block or a tile into tiles of `Size` neighbouring threads. No thread waits, and it costs
// no instruction. The parent's size must be a multiple of Size.
template <unsigned Size, class Parent>
INFLIGHT_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  static_assert(impl::is_block<Parent> || impl::is_tile<Parent>,
                "tiled_partition<Size> cuts a thread_block or a thread_block_tile");
  static_assert(impl::is_block<Parent> || Size <= impl::tile_size<Parent>,
                "a tile cannot be larger than the tile it is cut from");
  impl::tile_sync_memory place;
  if constexpr (Size > 32) place = parent.tile_sync_memory();
  return thread_block_tile<Size, Parent>(place, parent);
}

namespace experimental {
using inflight::tiled_partition;
}

}  // namespace inflight
