// Groups of any lanes of a warp: those that are converged, or those that hold the same label.
#pragma once
#include <inflight/tile.cuh>

namespace inflight {

// Some lanes of one warp, ranked from the lowest lane up. Shuffles, votes and matches use ranks, as
// in thread_block_tile, and cost more, because a rank must be converted to a lane.
class coalesced_group : public thread_group {
 public:
  INFLIGHT_DEVICE unsigned num_threads() const { return __popc(mask()); }
  INFLIGHT_DEVICE unsigned size() const { return num_threads(); }
  INFLIGHT_DEVICE unsigned thread_rank() const { return rank_; }

  // Mask of the group's lanes in its warp. An extension.
  INFLIGHT_DEVICE std::uint32_t mask() const { return lanes(); }

  // The number of groups that the partition made, and the index of this one: 1 and 0 for
  // coalesced_threads().
  INFLIGHT_DEVICE unsigned meta_group_size() const { return meta_size_; }
  INFLIGHT_DEVICE unsigned meta_group_rank() const { return meta_rank_; }

  INFLIGHT_DEVICE void sync() const { ptx::warp_sync(mask()); }

  // shfl: the value of the thread of rank `source` (less than num_threads()). shfl_up, shfl_down:
  // that of the thread `delta` ranks below or above, or the caller's own if there is none.
  template <class T>
  INFLIGHT_DEVICE T shfl(T value, unsigned source) const {
    return from_lane(value, impl::nth_lane(mask(), source));
  }
  template <class T>
  INFLIGHT_DEVICE T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return from_lane(value, rank < delta ? ptx::lane_id() : impl::nth_lane(mask(), rank - delta));
  }
  template <class T>
  INFLIGHT_DEVICE T shfl_down(T value, unsigned delta) const {
    const unsigned above = num_threads() - 1 - thread_rank();
    return from_lane(
        value, above < delta ? ptx::lane_id() : impl::nth_lane(mask(), thread_rank() + delta));
  }

  INFLIGHT_DEVICE int any(int predicate) const { return ptx::vote_any(mask(), predicate != 0); }
  INFLIGHT_DEVICE int all(int predicate) const { return ptx::vote_all(mask(), predicate != 0); }
  INFLIGHT_DEVICE unsigned ballot(int predicate) const {
    return impl::lanes_to_ranks(mask(), ptx::ballot(mask(), predicate != 0));
  }
  template <class T>
  INFLIGHT_DEVICE unsigned match_any(T value) const {
    return impl::lanes_to_ranks(mask(), ptx::match_any(mask(), impl::comparable(value)));
  }
  template <class T>
  INFLIGHT_DEVICE unsigned match_all(T value, int& same) const {
    bool equal;
    const unsigned lanes = ptx::match_all(mask(), impl::comparable(value), equal);
    same = equal;
    return impl::lanes_to_ranks(mask(), lanes);
  }

  // Converts a tile within one warp.
  template <unsigned Size, class Parent>
  INFLIGHT_DEVICE coalesced_group(const thread_block_tile<Size, Parent>& tile)
      : coalesced_group(tile.mask(), tile.meta_group_rank(), tile.meta_group_size()) {
    static_assert(Size <= 32, "a coalesced_group lies within one warp");
  }
  // The group of the lanes in `mask`, which includes the caller's. An extension.
  INFLIGHT_DEVICE explicit coalesced_group(std::uint32_t mask, unsigned meta_rank = 0,
                                           unsigned meta_size = 1)
      : thread_group(kind::lanes, mask),
        rank_(impl::lanes_below_in(mask)),
        meta_rank_(meta_rank),
        meta_size_(meta_size) {}

 private:
  template <class T>
  INFLIGHT_DEVICE T from_lane(const T& value, std::uint32_t lane) const {
    return impl::by_words(value, [&](std::uint32_t word) { return ptx::shfl(mask(), word, lane); });
  }
  unsigned rank_, meta_rank_, meta_size_;
};

// The threads of the warp that are converged at this moment: the discovery pattern of the CUDA C++
// Programming Guide. It only guarantees that the caller is one of them.
INFLIGHT_DEVICE coalesced_group coalesced_threads() { return coalesced_group(ptx::active_mask()); }

// One group for each value of `label` (any type of at most 8 bytes). Groups are numbered by their
// lowest members. A collective of `group`, a tile of at most 32 threads or a coalesced_group: one
// match.any and one vote.
template <class Group, class Label>
INFLIGHT_DEVICE coalesced_group labeled_partition(const Group& group, Label label) {
  static_assert(
      impl::is_warp_group<Group>,
      "labeled_partition needs a group within one warp: a thread_block_tile of at most 32 "
      "threads or a coalesced_group");
  const std::uint32_t lanes = ptx::match_any(group.mask(), impl::comparable(label));
  const std::uint32_t lowest = lanes & (0u - lanes);
  const std::uint32_t leaders = ptx::ballot(group.mask(), (lanes & ptx::lanes_below()) == 0);
  return coalesced_group(lanes, __popc(leaders & (lowest - 1)), __popc(leaders));
}

// Two groups: rank 0 where the predicate is false, rank 1 where it is true. One vote.
template <class Group>
INFLIGHT_DEVICE coalesced_group binary_partition(const Group& group, bool predicate) {
  static_assert(impl::is_warp_group<Group>,
                "binary_partition needs a group within one warp: a thread_block_tile of at most 32 "
                "threads or a coalesced_group");
  const std::uint32_t mask = group.mask();
  const std::uint32_t chosen = ptx::ballot(mask, predicate);
  return coalesced_group(predicate ? chosen : mask & ~chosen, predicate, 2);
}

// Groups of `size` consecutive ranks; the last may be smaller. One match.any.
INFLIGHT_DEVICE coalesced_group tiled_partition(const coalesced_group& group, unsigned size) {
  INFLIGHT_REQUIRE(size > 0, "tiled_partition cuts groups of at least one thread");
  const unsigned tile = group.thread_rank() / size;
  return coalesced_group(ptx::match_any(group.mask(), std::uint32_t(tile)), tile,
                         (group.num_threads() + size - 1) / size);
}

}  // namespace inflight
