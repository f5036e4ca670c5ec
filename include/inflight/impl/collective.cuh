// The entry point of reduce and the scans: selects the implementation for a kind of group.
#pragma once
#include <inflight/collective_scratch.cuh>
#include <inflight/impl/collective_tile.cuh>
#include <inflight/impl/collective_warp.cuh>

namespace inflight::impl {

template <class Group>
struct has_scratch : std::false_type {};
template <class Group, class Scratch>
struct has_scratch<scratch_group<Group, Scratch>> : std::true_type {};

// Tiles of several warps, which have shared memory for each warp.
template <class Group, class = void>
struct carries_memory : std::false_type {};
template <class Group>
struct carries_memory<Group,
                      std::void_t<decltype(declval<const Group&>().template scratch<int>(0u))>>
    : std::true_type {};

template <result Wanted, class Group, class V, class Op>
INFLIGHT_DEVICE V collective(const Group& group, const V& value, Op& op) {
  require_value<V>();
  constexpr unsigned threads = static_threads<Group>::value;
  if constexpr (threads == 1) {
    if constexpr (Wanted == result::exclusive)
      return V{};
    else
      return value;
  } else if constexpr (in_warp<Group>::value) {
    return on_lanes(group, [&](std::uint32_t mask) -> V {
      const unsigned rank = group.thread_rank();
      if constexpr (Wanted == result::reduction) {
        return reduce_lanes<threads>(mask, rank, value, op);
      } else {
        const V inclusive = scan_lanes<threads>(mask, rank, value, op);
        if constexpr (Wanted == result::inclusive)
          return inclusive;
        else
          return excluded<threads>(mask, rank, value, inclusive, op);
      }
    });
  } else if constexpr (has_scratch<Group>::value) {
    return group.template collective<Wanted>(value, op);
  } else if constexpr (carries_memory<Group>::value && threads != 0) {
    return over_tile<Wanted, threads / 32>(group, value, op);
  } else {
    static_assert(never<Group>,
                  "reduce and scans over a whole block or cluster need shared memory: pass "
                  "with_scratch(group, scratch) in place of the group (grids have no such "
                  "collective).");
    return value;
  }
}

}  // namespace inflight::impl
