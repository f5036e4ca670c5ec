// Groups of threads that cooperate: the interface of CUDA's cooperative groups.
//
// A launch defines the implicit groups: this_thread_block(), this_cluster(), this_grid(),
// this_thread(). Partitions split them: tiled_partition, labeled_partition, binary_partition.
// coalesced_threads() is the group of converged lanes. Each has num_threads(), thread_rank() and
// sync(). The caller must ensure that all threads of a group call its collectives, in the same
// order.
#pragma once
#include <inflight/cluster_group.cuh>
#include <inflight/coalesced_group.cuh>
#include <inflight/grid_group.cuh>
#include <inflight/thread_block.cuh>
#include <inflight/thread_group.cuh>
#include <inflight/tile.cuh>

namespace inflight {

// Cuts a block, a tile or a coalesced group into groups of `size` consecutive threads; the last has
// the remainder. `size` is 1, 2, 4, 8, 16 or 32, and may be known only at run time. Prefer
// tiled_partition<Size>. It is a collective if the parent is part of a warp. A grid cannot be cut.
INFLIGHT_DEVICE thread_group tiled_partition(const thread_group& parent, unsigned size) {
  impl::require_tile_size(size);
  const std::uint32_t lanes = impl::lanes_of_block();
  if (parent.kind_ == thread_group::kind::lanes)
    return tiled_partition(coalesced_group(parent.mask_ & lanes), size);
  return thread_group(thread_group::kind::lanes, impl::lanes_beside(size) & lanes);
}
template <unsigned Size, class Parent>
INFLIGHT_DEVICE thread_group tiled_partition(const thread_block_tile<Size, Parent>& parent,
                                             unsigned size) {
  static_assert(Size <= 32, "only tiled_partition<Size> cuts a tile of several warps");
  impl::require_tile_size(size);
  return coalesced_group(parent.mask() & impl::lanes_beside(size) & impl::lanes_of_block());
}

// The members as free functions.
template <class Group>
INFLIGHT_DEVICE void sync(const Group& group) {
  group.sync();
}
template <class Group>
INFLIGHT_DEVICE auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group>
INFLIGHT_DEVICE auto group_size(const Group& group) -> decltype(group.num_threads()) {
  return group.num_threads();
}

// The thread of rank 0 calls `call(arguments...)`; no thread waits.
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
