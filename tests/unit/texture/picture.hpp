// A texture of increasing floats, for tests.
#pragma once
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gpu/texture/read.hpp"

namespace inflight::texture {

// Texel (x, y, z) is x + width * (y + height * z). Each further level adds 1000.
struct Picture {
  Picture(Geometry geometry, std::uint32_t width, std::uint32_t height = 1, std::uint32_t depth = 1,
          unsigned levels = 1) {
    Image& image = texture.image;
    image.geometry = geometry;
    image.format = {Kind::floating, 32, 1};
    const bool volume = geometry == Geometry::volume;
    image.layers = volume ? 1 : depth;
    std::uint64_t offset = 0;
    for (unsigned i = 0; i < levels; ++i) {
      Level level;
      level.size[0] = std::max(1u, width >> i), level.size[1] = std::max(1u, height >> i);
      level.size[2] = volume ? std::max(1u, depth >> i) : 1;
      level.offset = offset;
      level.pitch = 4 * level.size[0], level.slice = level.pitch * level.size[1];
      const std::uint64_t count = level.slice / 4 * std::max(level.size[2], image.layers);
      for (std::uint64_t n = 0; n < count; ++n) texels.push_back(static_cast<float>(n + 1000 * i));
      offset += 4 * count;
      image.levels.push_back(level);
    }
    image.base = reinterpret_cast<std::uint64_t>(texels.data());
    image.bytes = offset;
  }
  float read(const Request& request, Read how = {}) {
    how.geometry = texture.image.geometry;
    prepare(texture);
    return std::bit_cast<float>(texture::read(texture, how, request, nullptr)[0]);
  }
  float at(float x, float y = 0, float z = 0) {
    Request r;
    r.at[0] = x, r.at[1] = y, r.at[2] = z;
    return read(r);
  }

  std::vector<float> texels;
  Texture texture;
};

}  // namespace inflight::texture
