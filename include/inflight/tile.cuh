// Tiles: a block cut into equal groups of 1 to 512 threads, the size known to the compiler.
#pragma once
#include <inflight/thread_block.cuh>

namespace inflight {

template <unsigned Size, class Parent = void>
class thread_block_tile;

namespace impl {

// The lanes of the tile of `Size` that a lane is in.
template <unsigned Size>
INFLIGHT_DEVICE std::uint32_t tile_lanes(unsigned lane) {
  if constexpr (Size == 32)
    return 0xffffffffu;
  else
    return ((1u << Size) - 1) << (lane & (32 - Size));
}

// What tiles of one warp can do. Shuffles, votes and matches count by thread_rank(), and are
// collectives: all threads of the tile call them. Each is one instruction for each 4 bytes.
// Rules: PTX ISA, "shfl.sync", "vote.sync", "match.sync".
template <unsigned Size>
class warp_tile : public thread_group {
 public:
  INFLIGHT_DEVICE static constexpr unsigned num_threads() { return Size; }
  INFLIGHT_DEVICE static constexpr unsigned size() { return Size; }
  INFLIGHT_DEVICE unsigned thread_rank() const { return lane_ & (Size - 1); }

  // The lanes of the warp that belong to the tile. An extension: cooperative groups keep it hidden.
  INFLIGHT_DEVICE std::uint32_t mask() const { return lanes(); }

  // bar.warp.sync: waits for the tile's threads and orders their accesses to memory.
  INFLIGHT_DEVICE void sync() const { ptx::warp_sync(mask()); }

  // The value of the thread of rank `source`, modulo the tile's size; of the one `delta` ranks
  // below or above, or the caller's own where there is none; of the one at the caller's rank xor
  // `ranks`. T: trivially copyable, at most 32 bytes.
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

  // Whether the predicate is non-zero in any thread, in all of them; in which, bit r for rank r.
  INFLIGHT_DEVICE int any(int predicate) const { return ptx::vote_any(mask(), predicate != 0); }
  INFLIGHT_DEVICE int all(int predicate) const { return ptx::vote_all(mask(), predicate != 0); }
  INFLIGHT_DEVICE unsigned ballot(int predicate) const {
    return ptx::ballot(mask(), predicate != 0) >> first_lane();
  }

  // The ranks that hold the same value; all ranks if all hold the same, else none, and `same` says
  // which. Values are compared as bytes; at most 8.
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

  INFLIGHT_DEVICE static constexpr impl::meeting_place meeting_place() { return {}; }

 protected:
  INFLIGHT_DEVICE explicit warp_tile(const impl::meeting_place&) : warp_tile(ptx::lane_id()) {}

 private:
  INFLIGHT_DEVICE explicit warp_tile(unsigned lane)
      : thread_group(kind::lanes, tile_lanes<Size>(lane)), lane_(lane) {}
  INFLIGHT_DEVICE unsigned first_lane() const { return lane_ & (32 - Size); }

  // Read once: the compiler would not see that each reading gives the same.
  unsigned lane_;
};

// What tiles of several warps can do, through their block's block_tile_memory or, if it has none,
// through the shared memory that is reserved in each block. All threads of the tile take part in
// every call. The block's size must be a multiple of Size.
template <unsigned Size>
class wide_tile {
 public:
  INFLIGHT_DEVICE static constexpr unsigned num_threads() { return Size; }
  INFLIGHT_DEVICE static constexpr unsigned size() { return Size; }
  INFLIGHT_DEVICE static unsigned thread_rank() { return block_thread_rank() & (Size - 1); }

  // Waits for the tile's threads, by a flag a warp: none of the block's sixteen barriers, no
  // atomics.
  INFLIGHT_DEVICE void sync() const { tile_place<Size>::sync(place_); }

  // The value of the thread of rank `source`, which must be the same in all threads. Two sync(), or
  // one and more where there is no block_tile_memory.
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

  // Whether the predicate is non-zero in any thread, in all of them. Likewise.
  INFLIGHT_DEVICE int any(int predicate) const {
    return vote(ptx::vote_any(0xffffffffu, predicate != 0),
                [](bool mine) { return ptx::vote_any(0xffffffffu, mine); });
  }
  INFLIGHT_DEVICE int all(int predicate) const {
    return vote(ptx::vote_all(0xffffffffu, predicate != 0),
                [](bool mine) { return ptx::vote_all(0xffffffffu, mine); });
  }

  // For collectives built on top; extensions. Whether the block has block_tile_memory: then each
  // warp has 32 bytes of it, those of the next warp behind them, and whoever writes there calls
  // sync() before others read and after they have.
  INFLIGHT_DEVICE bool has_memory() const { return place_.given; }
  // Else each warp has 8 bytes, and sync_around(): when all threads have come and before any goes
  // on, those of warp `leader` call work(). A warp writes into its own bytes, behind a
  // __syncwarp(), before it calls that; into others' writes only the leader in its work.
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

  // What is known of each warp, told to all: `all` has a place for each, and in the thread for
  // which `tells` holds, one of each warp, its own warp's is filled in. Two sync() a round. An
  // extension.
  template <class T>
  INFLIGHT_DEVICE void tell(bool tells, T* all) const {
    const unsigned own = thread_rank() / 32;
    in_rounds<sizeof(T)>([&](unsigned from, unsigned bytes) {
      __syncwarp();
      if (tells) memcpy(scratch<char>(own), reinterpret_cast<char*>(&all[own]) + from, bytes);
      sync();
      for (unsigned warp = 0; warp < Size / 32; ++warp)
        memcpy(reinterpret_cast<char*>(&all[warp]) + from, scratch<char>(warp), bytes);
      sync();
    });
  }

  INFLIGHT_DEVICE impl::meeting_place meeting_place() const { return place_; }

 protected:
  INFLIGHT_DEVICE explicit wide_tile(const impl::meeting_place& place) : place_(place) {}

 private:
  // round(from, bytes) for the parts of a value that fit a warp's scratch: one, or pieces of 8.
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
  // Each warp's vote, and one made of them for all.
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
  impl::meeting_place place_;
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
  // How many tiles the parent was cut into, and which of them this is.
  INFLIGHT_DEVICE unsigned meta_group_size() const { return meta_size_; }
  INFLIGHT_DEVICE unsigned meta_group_rank() const { return meta_rank_; }

 protected:
  INFLIGHT_DEVICE thread_block_tile(const impl::meeting_place& place, unsigned rank, unsigned size)
      : impl::tile_base<Size>(place), meta_rank_(rank), meta_size_(size) {}

 private:
  friend INFLIGHT_DEVICE thread_block_tile<1, void> this_thread();
  unsigned meta_rank_, meta_size_;
};

// A tile whose type also tells which group was cut; it is a thread_block_tile<Size> too.
template <unsigned Size, class Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
 private:
  INFLIGHT_DEVICE thread_block_tile(const impl::meeting_place& place, const Parent& parent)
      : thread_block_tile<Size, void>(place, parent.thread_rank() / Size,
                                      (parent.num_threads() + Size - 1) / Size) {}
  template <unsigned Part, class Whole>
  friend INFLIGHT_DEVICE thread_block_tile<Part, Whole> tiled_partition(const Whole&);
};

// The calling thread alone, as a group.
INFLIGHT_DEVICE thread_block_tile<1, void> this_thread() { return {{}, 0, 1}; }

// Cuts a block or a tile into tiles of `Size` neighbouring threads. No thread waits, no instruction
// is spent. The parent's size must be a multiple of Size.
template <unsigned Size, class Parent>
INFLIGHT_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  static_assert(impl::is_block<Parent> || impl::is_tile<Parent>,
                "tiled_partition<Size> cuts a thread_block or a thread_block_tile");
  static_assert(impl::is_block<Parent> || Size <= impl::tile_size<Parent>,
                "a tile cannot be larger than the tile it is cut from");
  impl::meeting_place place;
  if constexpr (Size > 32) place = parent.meeting_place();
  return thread_block_tile<Size, Parent>(place, parent);
}

namespace experimental {
using inflight::tiled_partition;
}

}  // namespace inflight
