// The levels of detail that a read mixes, and its probes.
#pragma once
#include "gpu/texture/read.hpp"

namespace inflight::texture {

struct Levels {
  unsigned level[2] = {0, 0};
  std::uint32_t fraction = 0;  // weight of the second level, in 1/256
  // Anisotropic filters: the number of reads, spread evenly along `axis`, in normalized
  // coordinates.
  unsigned probes = 1;
  double axis[3] = {};
};
Levels levels_of(const Texture& texture, const Read& how, const Request& request);

}  // namespace inflight::texture
