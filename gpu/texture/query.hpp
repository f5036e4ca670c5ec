// The queries of txq and suq that a GPU's driver loads, and two more.
#pragma once
#include <cstdint>

#include "gpu/texture/image.hpp"

namespace inflight::texture {

enum class Query : std::uint8_t { width, height, depth, array_size, num_mipmap_levels };

// The answer for an image. Width, height and depth are those of a level, and 0 for a level that the
// image lacks. As on an H100 and an H200, the first dimension that an image lacks is its number of
// layers.
std::uint32_t answer(Query query, const Image& image, bool surface, std::uint32_t level);

}  // namespace inflight::texture
