// Checks the bounds of surfaces, and encodes registers as texels.
#include "gpu/texture/surface.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace inflight::texture {

std::optional<std::uint64_t> address_in(const Image& image, const SurfaceAccess& access,
                                        const SurfacePlace& place) {
  const Level& level = image.levels[0];
  const unsigned count = dimensions(access.geometry);
  const bool volume = access.geometry == Geometry::volume;
  std::int64_t at[3] = {place.x, count > 1 ? place.y : 0, volume ? place.z : 0};
  if (is_layered(access.geometry)) at[2] = place.layer;
  const std::int64_t unit = access.formatted ? image.format.bytes() : 1;
  const std::int64_t row = std::int64_t{level.size[0]} * image.format.bytes();
  if (row < access.bytes) return std::nullopt;
  const std::int64_t last[3] = {(row - access.bytes) / unit, level.size[1] - 1,
                                (volume ? level.size[2] : image.layers) - 1};
  for (unsigned d = 0; d < 3; ++d) {
    if (at[d] >= 0 && at[d] <= last[d]) continue;
    if (access.outside != Outside::clamp) return std::nullopt;
    at[d] = std::clamp<std::int64_t>(at[d], 0, std::max<std::int64_t>(last[d], 0));
  }
  return image.base + level.offset + static_cast<std::uint64_t>(at[2]) * level.slice +
         static_cast<std::uint64_t>(at[1]) * level.pitch + static_cast<std::uint64_t>(at[0] * unit);
}

namespace {

// Converts a channel to the format: integers saturate, halves are truncated.
std::uint32_t held(Format format, std::uint32_t v) {
  if (format.kind == Kind::floating)
    return format.bits == 16 ? half_below(std::bit_cast<float>(v)) : v;
  if (format.kind == Kind::unsigned_integer)
    return std::min(v, format.bits == 32 ? ~0u : (1u << format.bits) - 1);
  const std::int32_t most = (1 << (format.bits - 2)) - 1 + (1 << (format.bits - 2));
  return static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(v), -most - 1, most));
}

}  // namespace

void encode(Format format, const std::uint32_t* channels, unsigned count, std::byte* texel) {
  const unsigned bytes = format.bits / 8;
  for (unsigned i = 0; i < format.channels; ++i) {
    const std::uint32_t v = held(format, i < count ? channels[i] : 0);
    std::memcpy(texel + i * bytes, &v, bytes);
  }
}

}  // namespace inflight::texture
