// Reductions and scans in a tile of several warps.
//
// With block_tile_memory, where a barrier is cheap, each warp writes its result, and after the
// barrier each combines what it needs. A second barrier frees the memory. In the reserved bytes,
// where a barrier costs twice that, one barrier suffices: when all have arrived, the first warp
// combines the results and writes what each warp needs to that warp's slot.
#pragma once
#include <inflight/impl/collective_block.cuh>

namespace inflight::impl {

// Each warp combines the results that it needs, after sync_group().
template <result Wanted, unsigned Warps, class Group, class T, class Op, class Sync>
INFLIGHT_DEVICE T combine_in_each_warp(const Group& group, T* results, const T& value, Op& op,
                                       Sync sync_group) {
  return over_warps<Wanted, Warps, false>(group.thread_rank(), Warps * 32, results, value, op,
                                          static_cast<T*>(nullptr), sync_group);
}

// The first warp's part, one lane for each warp and its slot. Writes to every slot the reduction,
// or the combination of the warps below. The first warp has none below, and its slot stays as it
// is.
template <result Wanted, unsigned Warps, class T, class Op>
INFLIGHT_DEVICE void distribute_results(T* slot, unsigned lane, Op& op) {
  constexpr operation does = what<T, std::remove_cv_t<Op>>;
  T value = *slot;
  if constexpr (Wanted != result::reduction) {
    value = scan_up<Warps>(every_lane, lane % Warps, value, op);
    value = from_below<32>(every_lane, value, 1);
  } else if constexpr (hardware_reduces<T, std::remove_cv_t<Op>>()) {
    value = redux<does>(every_lane, lane < Warps ? value : neutral<T, does>());
  } else {
    value = butterfly<Warps>(every_lane, lane % Warps, value, op);
  }
  __syncwarp();
  if (lane < Warps && (Wanted == result::reduction || lane != 0)) *slot = value;
}

template <result Wanted, unsigned Warps, class Group, class T, class Op>
INFLIGHT_DEVICE T over_tile(const Group& group, const T& value, Op& op) {
  constexpr unsigned source_lane = Wanted == result::reduction ? 0 : 31;
  const unsigned warp = group.thread_rank() / 32, lane = ptx::lane_id();
  if (group.has_memory()) {
    const T got = combine_in_each_warp<Wanted, Warps>(group, group.template scratch<T>(0), value,
                                                      op, [&] { group.sync(); });
    group.sync();
    return got;
  }
  if (sizeof(T) > group.scratch_bytes()) {
    // The value takes several rounds: all warps get all results, and each combines them itself.
    row<T, Warps> results;
    return combine_in_each_warp<Wanted, Warps>(group, results.values, value, op, [&] {
      group.gather(lane == source_lane, results.values);
    });
  }
  decltype(auto) apply = applied<T>(op);
  T* const slot = group.template scratch<T>(warp);
  T own, out{};
  if constexpr (Wanted == result::reduction)
    own = reduce_lanes<32, Warps>(every_lane, lane, value, op);
  else
    own = scan_lanes<32, Warps>(every_lane, lane, value, op);
  __syncwarp();  // after the last call's read of the slot
  if (lane == source_lane) *slot = own;
  if constexpr (Wanted == result::exclusive) out = excluded<32>(every_lane, lane, value, own, op);
  group.sync_around(0, [&] {
    distribute_results<Wanted, Warps>(group.template scratch<T>(lane % Warps), lane, apply);
  });
  const T got = *slot;
  if constexpr (Wanted == result::reduction)
    return got;
  else if constexpr (Wanted == result::inclusive)
    return warp == 0 ? own : apply(got, own);
  else if (warp == 0)
    return out;
  else
    return lane == 0 ? got : apply(got, out);
}

}  // namespace inflight::impl
