// Exchanges of values of any size between the lanes of a warp, and the choice of their mask.
#pragma once
#include <inflight/impl/collective_traits.cuh>
#include <inflight/impl/group_lanes.cuh>

namespace inflight::impl {

inline constexpr std::uint32_t every_lane = 0xffffffffu;

// The value of the lane at the caller's lane xor `bits`.
template <class T>
INFLIGHT_DEVICE T across(std::uint32_t mask, const T& value, unsigned bits) {
  return by_words(value, [=](std::uint32_t word) { return ptx::shfl_xor(mask, word, bits); });
}
// That of the lane `distance` below; the caller's own if that is outside its segment of Width
// lanes.
template <unsigned Width = 32, class T>
INFLIGHT_DEVICE T from_below(std::uint32_t mask, const T& value, unsigned distance) {
  return by_words(
      value, [=](std::uint32_t word) { return ptx::shfl_up<int(Width)>(mask, word, distance); });
}
// That of lane `lane`.
template <class T>
INFLIGHT_DEVICE T from_lane(std::uint32_t mask, const T& value, unsigned lane) {
  return by_words(value, [=](std::uint32_t word) { return ptx::shfl(mask, word, lane); });
}

// Runs `body(mask)` with the lanes of the group. A mask that the compiler does not know costs a
// check of which lanes are present (match, redux, vote) before the exchange; consecutive exchanges
// share it. Tiles use their own lanes nevertheless: on an H200 that takes 9 to 37 cycles a call
// less than testing whether the whole warp is active and branching. A coalesced group that equals
// the active lanes uses the result of activemask, which is not checked: every lane in that result
// executed it together, so they all take the same branch.
template <class Group, class Body>
INFLIGHT_DEVICE auto on_lanes(const Group& group, Body body) {
  constexpr unsigned threads = static_threads<Group>::value;
  if constexpr (threads == 32) {
    return body(every_lane);
  } else if constexpr (threads != 0) {
    return body(group.mask());
  } else {
    const std::uint32_t running = ptx::active_mask(), mask = group.mask();
    if (running == mask) return body(running);
    return body(mask);
  }
}

}  // namespace inflight::impl
