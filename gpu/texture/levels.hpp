// Which levels of detail a read mixes.
#pragma once
#include "gpu/texture/read.hpp"

namespace inflight::texture {

struct Levels {
  unsigned level[2] = {0, 0};
  std::uint32_t fraction = 0;  // of the second, in 1/256
};
Levels levels_of(const Texture& texture, const Read& how, const Request& request);

}  // namespace inflight::texture
