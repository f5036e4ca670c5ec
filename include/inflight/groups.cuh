// Groups of threads that work together: the interface of CUDA's cooperative groups.
//
// Implicit groups are what a launch defines: this_thread_block(), this_cluster(), this_grid(),
// this_thread(). Partitions cut them: tiled_partition, labeled_partition, binary_partition;
// coalesced_threads() takes the lanes that are together. Each has num_threads(), thread_rank() and
// sync(). Whether a group's collective may be called is the caller's to see to: all threads of the
// group must, and in the same order.
#pragma once
#include <inflight/cluster_group.cuh>
#include <inflight/coalesced_group.cuh>
#include <inflight/grid_group.cuh>
#include <inflight/thread_block.cuh>
#include <inflight/tile.cuh>
#include <utility>

namespace inflight {

// Any of: thread_block, a tile of at most 32 threads, coalesced_group, grid_group; which, is known
// when the program runs. Specific types make better code.
class thread_group {
 public:
  INFLIGHT_DEVICE unsigned long long num_threads() const {
    if (kind_ == kind::grid) return grid_group::num_threads();
    return kind_ == kind::block ? thread_block::num_threads() : unsigned(__popc(mask_));
  }
  INFLIGHT_DEVICE unsigned long long size() const { return num_threads(); }
  INFLIGHT_DEVICE unsigned long long thread_rank() const {
    if (kind_ == kind::grid) return grid_group::thread_rank();
    return kind_ == kind::block ? thread_block::thread_rank()
                                : unsigned(__popc(mask_ & ptx::lanes_below()));
  }
  INFLIGHT_DEVICE void sync() const {
    if (kind_ == kind::grid)
      impl::grid_sync(impl::grid_word());
    else if (kind_ == kind::block)
      thread_block::sync();
    else
      ptx::warp_sync(mask_);
  }

  INFLIGHT_DEVICE thread_group(const thread_block&) : kind_(kind::block), mask_(0) {}
  INFLIGHT_DEVICE thread_group(const grid_group&) : kind_(kind::grid), mask_(0) {}
  INFLIGHT_DEVICE thread_group(const coalesced_group& group)
      : kind_(kind::lanes), mask_(group.mask()) {}
  template <unsigned Size, class Parent>
  INFLIGHT_DEVICE thread_group(const thread_block_tile<Size, Parent>& tile)
      : kind_(kind::lanes), mask_(tile.mask()) {
    static_assert(Size <= 32, "a thread_group holds tiles of at most 32 threads");
  }

 private:
  enum class kind : unsigned { block, grid, lanes };
  INFLIGHT_DEVICE explicit thread_group(std::uint32_t mask) : kind_(kind::lanes), mask_(mask) {}
  friend INFLIGHT_DEVICE thread_group tiled_partition(const thread_group&, unsigned);
  kind kind_;
  std::uint32_t mask_;
};

// Cuts a block, a tile or a coalesced group into groups of `size` neighbouring threads, a size that
// the compiler need not know: 1, 2, 4, 8, 16 or 32. tiled_partition<Size> is the better one. A
// collective where the parent is part of a warp; a grid cannot be cut.
INFLIGHT_DEVICE thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (parent.kind_ == thread_group::kind::lanes)
    return tiled_partition(coalesced_group(parent.mask_), size);
  const std::uint32_t ones = size >= 32 ? 0xffffffffu : (1u << size) - 1;
  return thread_group(ones << (ptx::lane_id() & (32 - size)));
}
INFLIGHT_DEVICE thread_group tiled_partition(const thread_block& parent, unsigned size) {
  return tiled_partition(thread_group(parent), size);
}
template <unsigned Size, class Parent>
INFLIGHT_DEVICE thread_group tiled_partition(const thread_block_tile<Size, Parent>& parent,
                                             unsigned size) {
  static_assert(Size <= 32, "only tiled_partition<Size> cuts a tile of several warps");
  return tiled_partition(coalesced_group(parent), size);
}

// The members as functions.
template <class Group>
INFLIGHT_DEVICE void sync(const Group& group) {
  group.sync();
}
template <class Group>
INFLIGHT_DEVICE auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
INFLIGHT_DEVICE auto group_size(const Group& group) {
  return group.num_threads();
}

// One thread of the group, that of rank 0, calls `call(arguments...)`; nobody waits.
template <class Group, class Call, class... Arguments>
INFLIGHT_DEVICE void invoke_one(const Group& group, Call&& call, Arguments&&... arguments) {
  static_assert(impl::is_group<Group>, "invoke_one's first argument is a group");
  if (group.thread_rank() == 0) std::forward<Call>(call)(std::forward<Arguments>(arguments)...);
}

// The same, and every thread gets the result: for tiles and coalesced groups.
template <class Group, class Call, class... Arguments>
INFLIGHT_DEVICE auto invoke_one_broadcast(const Group& group, Call&& call,
                                          Arguments&&... arguments) {
  static_assert(impl::is_warp_group<Group> || impl::is_wide_tile<Group>,
                "invoke_one_broadcast needs a group that shuffles: a thread_block_tile or a "
                "coalesced_group");
  using result_type =
      std::decay_t<decltype(std::forward<Call>(call)(std::forward<Arguments>(arguments)...))>;
  static_assert(!std::is_void_v<result_type>,
                "invoke_one_broadcast broadcasts a result; use invoke_one for a call without one");
  result_type result{};
  if (group.thread_rank() == 0)
    result = std::forward<Call>(call)(std::forward<Arguments>(arguments)...);
  return group.shfl(result, 0);
}

}  // namespace inflight
