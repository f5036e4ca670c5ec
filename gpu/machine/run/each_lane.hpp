// The lanes of a mask, one after the other.
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>

namespace inflight::machine {

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
