// Reductions and scans among the lanes of a warp.
//
// Every reduction is the balanced tree over ranks: neighbours first, then pairs of them, the lower
// rank on the left. Tiles and coalesced groups of the same size give the same bits.
//
// An exchange takes about 24 cycles and an addition 4. So values of one word combine four ranks at
// a time: three exchanges together, then two levels of the tree. Longer values, whose words already
// fill the exchange unit, combine two at a time.
#pragma once
#include <inflight/impl/collective_lanes.cuh>
#include <inflight/impl/collective_redux.cuh>
#include <inflight/impl/keep_in_register.cuh>

namespace inflight::impl {

// More exchanges need more throughput, though. `ActiveWarps` is the number of warps known to do the
// same at the same time. From sixteen on, two at a time is faster; for two words, from eight on (a
// block's scan of double on an H200, four against two at a time: 128 threads 336 cycles and 350,
// 256 threads 433 and 418).
template <class T, unsigned ActiveWarps>
inline constexpr bool radix4 = sizeof(T) <= 8 && ActiveWarps * sizeof(T) < 64;

// In a tile of 8 with one-word values, all eight ranks at once: a sum of float takes 93 cycles, not
// 100. In larger tiles, and for scans, it gains nothing.
template <unsigned N, class T, unsigned ActiveWarps>
inline constexpr bool radix8 = N == 8 && sizeof(T) <= 4 && radix4<T, ActiveWarps>;

// op of the own and another lane's value, the lower lane's on the left.
template <bool Swaps, class T, class Op>
INFLIGHT_DEVICE T join(bool own_is_upper, const T& own, const T& other, Op& op) {
  if constexpr (Swaps)
    return op(own, other);
  else
    return own_is_upper ? op(other, own) : op(own, other);
}

// Each group of N neighbouring lanes reduces its values; every lane gets the result of its group.
template <unsigned N, unsigned ActiveWarps = 1, unsigned Step = 1, class T, class Op>
INFLIGHT_DEVICE T butterfly(std::uint32_t mask, unsigned rank, const T& value, Op& op) {
  constexpr bool swaps = commutes<T, std::remove_cv_t<Op>>;
  if constexpr (Step >= N) {
    return value;
  } else if constexpr (Step == 1 && radix8<N, T, ActiveWarps>) {
    T all[8] = {value};
#pragma unroll
    for (unsigned i = 1; i < 8; ++i) all[i] = across(mask, value, i);
#pragma unroll
    for (unsigned step = 1; step < 8; step *= 2)
#pragma unroll
      for (unsigned i = 0; i < 8; i += 2 * step)
        all[i] = join<swaps>(rank & step, all[i], all[i + step], op);
    return all[0];
  } else if constexpr (4 * Step <= N && radix4<T, ActiveWarps>) {
    const T second = across(mask, value, Step), third = across(mask, value, 2 * Step),
            fourth = across(mask, value, 3 * Step);
    const T near = join<swaps>(rank & Step, value, second, op);
    const T far = join<swaps>(rank & Step, third, fourth, op);
    return butterfly<N, ActiveWarps, 4 * Step>(mask, rank,
                                               join<swaps>(rank & (2 * Step), near, far, op), op);
  } else {
    const T other = across(mask, value, Step);
    return butterfly<N, ActiveWarps, 2 * Step>(mask, rank,
                                               join<swaps>(rank & Step, value, other, op), op);
  }
}

// Inclusive scan of ranks 0 to N - 1, which are neighbouring lanes.
//
// The compiler must not know that two scans compare the same rank. Of several scans in a row it
// otherwise makes one branch on the rank, in each arm of which the exchanges stand once more: a
// kernel of four scans on an H200 took four times as long.
template <unsigned N, unsigned ActiveWarps = 1, unsigned Step = 1, class T, class Op>
INFLIGHT_DEVICE T scan_up(std::uint32_t mask, unsigned rank, const T& value, Op& op) {
  if constexpr (Step == 1) rank = keep_in_register(rank);
  if constexpr (Step >= N) {
    return value;
  } else if constexpr (4 * Step <= N && radix4<T, ActiveWarps>) {
    const T second = from_below<N>(mask, value, Step), third = from_below<N>(mask, value, 2 * Step),
            fourth = from_below<N>(mask, value, 3 * Step);
    const T near = rank >= Step ? op(second, value) : value;
    const T far = rank >= 3 * Step ? op(fourth, third) : third;
    return scan_up<N, ActiveWarps, 4 * Step>(mask, rank, rank >= 2 * Step ? op(far, near) : near,
                                             op);
  } else {
    const T other = from_below<N>(mask, value, Step);
    return scan_up<N, ActiveWarps, 2 * Step>(mask, rank, rank >= Step ? op(other, value) : value,
                                             op);
  }
}

// Reduces over the lanes of any mask, ranked from the lowest. Each lane starts with a link to the
// next. Each step reads from the linked lane its value and its link, which doubles the distance.
template <class T, class Op>
INFLIGHT_DEVICE T reduce_by_rank(std::uint32_t mask, T value, Op& op) {
  const std::uint32_t above = mask & ~ptx::lanes_below() & ~(1u << ptx::lane_id());
  const unsigned count = __popc(mask), rank = __popc(mask & ptx::lanes_below());
  unsigned next = above ? __ffs(above) - 1 : ptx::lane_id();
  for (unsigned distance = 1; distance < count; distance *= 2) {
    const T other = from_lane(mask, value, next);
    next = from_lane(mask, next, next);
    if (rank + distance < count) value = op(value, other);
  }
  return from_lane(mask, value, __ffs(mask) - 1);
}

// The lane of the next lower rank; the caller's own for rank 0.
INFLIGHT_DEVICE unsigned lane_before(std::uint32_t mask) {
  const std::uint32_t below = mask & ptx::lanes_below();
  return below ? 31 - __clz(below) : ptx::lane_id();
}

template <class T, class Op>
INFLIGHT_DEVICE T scan_by_rank(std::uint32_t mask, T value, Op& op) {
  const unsigned count = __popc(mask), rank = __popc(mask & ptx::lanes_below());
  unsigned before = lane_before(mask);
  for (unsigned distance = 1; distance < count; distance *= 2) {
    const T other = from_lane(mask, value, before);
    before = from_lane(mask, before, before);
    if (rank >= distance) value = op(other, value);
  }
  return value;
}

// For lanes of one warp. Threads is their number if the group's type states it, or 0 for any mask.
// on_lanes chooses `mask`.
template <unsigned Threads, unsigned ActiveWarps = 1, class T, class Op>
INFLIGHT_DEVICE T reduce_lanes(std::uint32_t mask, unsigned rank, const T& value, Op& op) {
  constexpr bool hardware = hardware_reduces<T, std::remove_cv_t<Op>>();
  if constexpr (hardware && (Threads == 32 || Threads == 0)) {
    return redux<what<T, std::remove_cv_t<Op>>>(mask, value);
  } else {
    decltype(auto) apply = applied<T>(op);
    if constexpr (Threads != 0)
      return butterfly<Threads, ActiveWarps>(mask, rank, value, apply);
    else if (mask == every_lane)
      return butterfly<32>(every_lane, rank, value, apply);
    else
      return reduce_by_rank(mask, value, apply);
  }
}

template <unsigned Threads, unsigned ActiveWarps = 1, class T, class Op>
INFLIGHT_DEVICE T scan_lanes(std::uint32_t mask, unsigned rank, const T& value, Op& op) {
  decltype(auto) apply = applied<T>(op);
  if constexpr (Threads != 0)
    return scan_up<Threads, ActiveWarps>(mask, rank, value, apply);
  else if (mask == every_lane)
    return scan_up<32>(every_lane, rank, value, apply);
  else
    return scan_by_rank(mask, value, apply);
}

// The inclusive results shifted up by one rank; T{} for rank 0. Sums of integers subtract the own
// value instead, which needs no exchange.
template <unsigned Threads, class T, class Op>
INFLIGHT_DEVICE T excluded(std::uint32_t mask, unsigned rank, const T& value, const T& inclusive,
                           Op&) {
  constexpr operation does = what<T, std::remove_cv_t<Op>>;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && does == operation::plus) {
    return T(inclusive - value);
  } else {
    T before;
    if constexpr (Threads != 0)
      before = from_below<Threads>(mask, inclusive, 1);
    else
      before = from_lane(mask, inclusive, lane_before(mask));
    return rank == 0 ? T{} : before;
  }
}

}  // namespace inflight::impl
