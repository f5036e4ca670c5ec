// The direction numbers of Sobol's sequence in many dimensions.
#pragma once
#include <array>
#include <cstdint>

namespace inflight::curand {

inline constexpr std::uint32_t most_directions = 1111;  // dimensions with numbers in joe_kuo.hpp

// Of dimension `index`, counted from 0: the first, and each next one a bit further right.
using Directions = std::array<std::uint64_t, 64>;
const Directions& directions(std::uint32_t index);

}  // namespace inflight::curand
