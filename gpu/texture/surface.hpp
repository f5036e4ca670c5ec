// The address of a surface access.
#pragma once
#include <optional>

#include "gpu/texture/sampler.hpp"

namespace inflight::texture {

// What an access outside does: ends the kernel; accesses the nearest place; loads 0 or stores
// nothing.
enum class Outside : std::uint8_t { trap, clamp, zero };

struct SurfaceAccess {
  Geometry geometry = Geometry::plane;
  Outside outside = Outside::trap;
  bool formatted = false;   // x counts texels, not bytes
  std::uint32_t bytes = 4;  // of one access, or of a texel if formatted
};
struct SurfacePlace {
  std::int32_t x = 0, y = 0, z = 0;
  std::uint32_t layer = 0;
};
// Returns the address, or nothing if it is outside and not clamped.
std::optional<std::uint64_t> address_in(const Image& image, const SurfaceAccess& access,
                                        const SurfacePlace& place);

// sust.p: converts `count` channels of 32 bits to a texel.
void encode(Format format, const std::uint32_t* channels, unsigned count, std::byte* texel);

}  // namespace inflight::texture
