// The levels of detail that a read mixes, and its probes.
#pragma once
#include "gpu/texture/probes.hpp"

namespace inflight::texture {

struct Levels {
  unsigned level[2] = {0, 0};
  std::uint32_t fraction = 0;  // weight of the second level, in 1/256
  Probes probes[2];
};
Levels levels_of(const Texture& texture, const Read& how, const Request& request);

}  // namespace inflight::texture
