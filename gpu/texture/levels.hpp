// Which levels of detail a read mixes, and at which places.
#pragma once
#include "gpu/texture/read.hpp"

namespace inflight::texture {

struct Levels {
  unsigned level[2] = {0, 0};
  std::uint32_t fraction = 0;  // of the second, in 1/256
  // Anisotropic filters: so many reads, spread evenly along this part of the texture.
  unsigned probes = 1;
  double axis[3] = {};
};
Levels levels_of(const Texture& texture, const Read& how, const Request& request);

}  // namespace inflight::texture
