// Visits the lanes of a mask, one after the other.
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>

namespace inflight::machine {

// Most masks are full, and some hosts cannot count bits in one instruction.
inline std::uint32_t lane_count(std::uint32_t mask) {
  return mask == ~0u ? 32 : static_cast<std::uint32_t>(std::popcount(mask));
}

// Calls f(lane) for every lane of the mask, lowest first. If f returns bool, stops when it returns
// false. Returns whether f was called for all.
template <class F>
bool each_lane(std::uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) {
    const int lane = std::countr_zero(mask);
    if constexpr (std::same_as<decltype(f(lane)), bool>) {
      if (!f(lane)) return false;
    } else {
      f(lane);
    }
  }
  return true;
}

}  // namespace inflight::machine
