// The ellipse of texels that a pixel covers: its level of detail, and the probes along it.
#pragma once
#include "gpu/texture/gradients.hpp"

namespace inflight::texture {

struct Ellipse {
  double level = 0;
  unsigned probes = 1;
  double axis[3] = {};  // the longer axis from end to end, in texels of the base level
};
// Uses at most `most_probes` probes. With 1 the filter is isotropic.
Ellipse ellipse_of(const Spans& spans, unsigned most_probes);

}  // namespace inflight::texture
