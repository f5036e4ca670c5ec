// The probes of an anisotropic filter in one level: their places and weights.
#pragma once
#include <cstdint>

#include "gpu/texture/axis.hpp"
#include "gpu/texture/ellipse.hpp"

namespace inflight::texture {

// Pairs of probes, mirrored at the coordinate. Without pairs there is one probe.
struct Probes {
  static constexpr unsigned most = 9;
  unsigned pairs = 0;
  std::int32_t place[most][2];  // of the pairs' second probes, in 256ths of a texel
  std::uint32_t inner = 0;      // the weight of a probe, but for the last pair's
  std::uint32_t all = whole;    // the sum of all weights
};
// Probes over an axis that is 2^(ratio / 256) texels long. Between two of them are `scale` / 64 of
// a step.
Probes probes_along(const int (&step)[2], int ratio, int scale);

// The scale in the greater one of two levels, whose mix has `fraction` / 256 of the other.
int scale_of(std::uint32_t fraction);

// The weight of a probe: pair `pair`, the second of it or the first. A level's part in a mix is
// `part` / 256.
std::uint32_t weight_of(const Probes& probes, unsigned pair, bool second, std::uint32_t part);

}  // namespace inflight::texture
