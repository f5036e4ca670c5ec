// The layout in memory of the texels of a texture or surface.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/texture/format.hpp"

namespace inflight::texture {

// The shapes that instructions name: .1d .2d .3d .a1d .a2d .cube .acube.
enum class Geometry : std::uint8_t { line, plane, volume, lines, planes, cube, cubes };
constexpr unsigned dimensions(Geometry g) {
  constexpr unsigned counts[] = {1, 2, 3, 1, 2, 2, 2};
  return counts[static_cast<unsigned>(g)];
}
constexpr bool is_layered(Geometry g) {
  return g == Geometry::lines || g == Geometry::planes || g == Geometry::cubes;
}
constexpr bool is_cube(Geometry g) { return g == Geometry::cube || g == Geometry::cubes; }

// One level of detail. Rows are `pitch` bytes apart, slices of a volume, layers and faces `slice`.
struct Level {
  std::uint64_t offset = 0;  // bytes from the image's base
  std::uint32_t size[3] = {1, 1, 1};
  std::uint64_t pitch = 0, slice = 0;
};

struct Image {
  Geometry geometry = Geometry::plane;
  Format format;
  std::uint64_t base = 0, bytes = 0;  // a global address, and the bytes up to the last texel's end
  std::uint32_t layers = 1;           // for a cubemap, the number of faces
  bool linear = false;                // linear memory of one dimension, not an array
  std::vector<Level> levels;
  // The address of a texel; `slice` is its third coordinate or its layer.
  std::uint64_t at(const Level& level, std::uint64_t x, std::uint64_t y,
                   std::uint64_t slice) const {
    return base + level.offset + slice * level.slice + y * level.pitch + x * format.bytes();
  }
};

// The texels that one read touched, for memory checks and listeners.
struct Footprint {
  static constexpr unsigned most = 16;  // texels: two levels of a volume, eight of each
  std::uint64_t at[most];
  unsigned count = 0;
  void add(std::uint64_t address) {
    if (count < most) at[count++] = address;
  }
};

}  // namespace inflight::texture
