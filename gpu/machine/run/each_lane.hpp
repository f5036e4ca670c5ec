// The lanes of a mask, one after the other.
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>

namespace inflight::machine {

// Most masks are full, and not every host that this is built for counts bits in one instruction.
inline std::uint32_t lane_count(std::uint32_t mask) {
  return mask == ~0u ? 32 : static_cast<std::uint32_t>(std::popcount(mask));
}

// Calls f(lane) for every lane of the mask, the lowest first; if f returns bool, until it returns
// false. Did it go through all?
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
