// Answers the queries of txq and suq.
#include "gpu/texture/query.hpp"

namespace inflight::texture {

std::uint32_t answer(Query query, const Image& image, const Sampler*, std::uint32_t level) {
  const Level& l = image.levels[level < image.levels.size() ? level : 0];
  switch (query) {
    case Query::width:
      return l.size[0];
    case Query::height:
      return l.size[1];
    case Query::depth:
      return l.size[2];
    case Query::array_size:
      return image.layers;
    case Query::num_mipmap_levels:
      return static_cast<std::uint32_t>(image.levels.size());
    default:
      return 0;
  }
}

}  // namespace inflight::texture
