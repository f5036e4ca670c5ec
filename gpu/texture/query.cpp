// What each query returns (tests/gpu/texture_queries.cu asks a GPU).
#include "gpu/texture/query.hpp"

namespace inflight::texture {
namespace {

std::uint32_t height(const Image& image, const Level& level, bool surface) {
  if (image.geometry == Geometry::lines) return image.layers;
  if (image.geometry == Geometry::line) return image.linear || surface ? 0 : 1;
  return level.size[1];
}

std::uint32_t depth(const Image& image, const Level& level, bool surface) {
  constexpr std::uint32_t faces = 6;
  switch (image.geometry) {
    case Geometry::volume:
      return level.size[2];
    case Geometry::planes:
      return image.layers;
    case Geometry::cube:
      return surface ? image.layers : 0;
    case Geometry::cubes:
      return surface ? image.layers : image.layers / faces;
    default:
      return 0;
  }
}

}  // namespace

std::uint32_t answer(Query query, const Image& image, bool surface, std::uint32_t level) {
  if (query == Query::array_size) return image.layers;
  if (query == Query::num_mipmap_levels) return static_cast<std::uint32_t>(image.levels.size());
  if (level >= image.levels.size()) return 0;
  const Level& l = image.levels[level];
  if (query == Query::width) return l.size[0];
  return query == Query::height ? height(image, l, surface) : depth(image, l, surface);
}

}  // namespace inflight::texture
