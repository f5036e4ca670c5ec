// The ellipse of texels that a pixel covers: its level of detail, and its longer axis.
#pragma once
#include "gpu/texture/gradients.hpp"

namespace inflight::texture {

struct Ellipse {
  double level = 0;  // of the shorter axis, or of a part of the longer one
  int ratio = 0;     // the binary logarithm of the ratio of the axes, in 256ths
  int step[2] = {};  // along the longer axis, in 64ths of a texel: the length is about one texel
};
// Uses at most `most_probes` probes. With 1 the filter is isotropic.
Ellipse ellipse_of(const Spans& spans, unsigned most_probes);

}  // namespace inflight::texture
