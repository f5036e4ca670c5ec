// Maps a coordinate to texels along one dimension.
#pragma once
#include <cstdint>

#include "gpu/texture/sampler.hpp"

namespace inflight::texture {

// Filters weigh texels in steps of 1/256.
inline constexpr int fraction_bits = 8;
inline constexpr std::uint32_t whole = 1u << fraction_bits;

// The two texels around a coordinate, and its distance from the first: `fraction` / 256.
struct Axis {
  static constexpr std::int32_t border = -1;
  std::int32_t texel[2] = {0, 0};
  std::uint32_t fraction = 0;
};

// The texels along one dimension, and how coordinates address them.
struct Dimension {
  std::uint32_t size = 1;
  Address address = Address::clamp;
  bool normalized = false;
  bool endless = false;  // texels continue behind the edges, and no mode applies
};

// Returns texel `i` after the address mode, or Axis::border. An endless dimension keeps `i`.
std::int32_t addressed(std::int64_t i, const Dimension& along);
// `moved` is added to the coordinate, in 256ths of a texel.
Axis nearest(double x, std::int32_t offset, const Dimension& along, std::int32_t moved = 0);
Axis between(double x, std::int32_t offset, const Dimension& along, std::int32_t moved = 0);

}  // namespace inflight::texture
