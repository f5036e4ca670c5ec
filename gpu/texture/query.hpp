// The queries of txq and suq.
#pragma once
#include <cstdint>

#include "gpu/texture/sampler.hpp"

namespace inflight::texture {

enum class Query : std::uint8_t {
  width,
  height,
  depth,
  channel_data_type,
  channel_order,
  normalized_coords,
  force_unnormalized_coords,
  filter_mode,
  addr_mode_0,
  addr_mode_1,
  addr_mode_2,
  array_size,
  num_mipmap_levels,
  num_samples,
  memory_layout,
};
std::uint32_t answer(Query query, const Image& image, const Sampler* sampler, std::uint32_t level);

}  // namespace inflight::texture
