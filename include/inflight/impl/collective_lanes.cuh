// Values of any size between the lanes of a warp, and which mask such an exchange names.
#pragma once
#include <inflight/impl/collective_traits.cuh>
#include <inflight/impl/group_lanes.cuh>

namespace inflight::impl {

inline constexpr std::uint32_t every_lane = 0xffffffffu;

// The value of the lane whose number differs in the bits of `bits`.
template <class T>
INFLIGHT_DEVICE T across(std::uint32_t mask, const T& value, unsigned bits) {
  return by_words(value, [=](std::uint32_t word) { return ptx::shfl_xor(mask, word, bits); });
}
// Of the lane `distance` below; the own one where that would leave the segment of Width lanes.
template <unsigned Width = 32, class T>
INFLIGHT_DEVICE T from_below(std::uint32_t mask, const T& value, unsigned distance) {
  return by_words(
      value, [=](std::uint32_t word) { return ptx::shfl_up<int(Width)>(mask, word, distance); });
}
// Of lane `lane`.
template <class T>
INFLIGHT_DEVICE T from_lane(std::uint32_t mask, const T& value, unsigned lane) {
  return by_words(value, [=](std::uint32_t word) { return ptx::shfl(mask, word, lane); });
}

// Runs `body(mask)` with the lanes that meet in it. A mask that the compiler cannot see costs a
// check of who is there (match, redux, vote) in front of the exchange; exchanges in a row share it.
// Tiles name their own lanes all the same: that takes 9 to 37 cycles a call less on an H200 than
// asking whether the whole warp runs, and branching. A coalesced group that is exactly what runs
// names what activemask says, which is not checked: every lane in its answer executed it together,
// hence takes the same branch.
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
