// Where an access to a surface goes.
#pragma once
#include <optional>

#include "gpu/texture/sampler.hpp"

namespace inflight::texture {

// What happens outside: the kernel ends; the nearest place is accessed; loads give 0 and stores do
// nothing.
enum class Outside : std::uint8_t { trap, clamp, zero };

struct SurfaceAccess {
  Geometry geometry = Geometry::plane;
  Outside outside = Outside::trap;
  bool formatted = false;   // x counts texels, not bytes
  std::uint32_t bytes = 4;  // of one access; formatted: of a texel
};
struct SurfacePlace {
  std::int32_t x = 0, y = 0, z = 0;
  std::uint32_t layer = 0;
};
// The address, or nothing if it is outside and not clamped.
std::optional<std::uint64_t> address_in(const Image& image, const SurfaceAccess& access,
                                        const SurfacePlace& place);

// sust.p: 32 bits a channel -> a texel. `count` channels are given.
void encode(Format format, const std::uint32_t* channels, unsigned count, std::byte* texel);

}  // namespace inflight::texture
