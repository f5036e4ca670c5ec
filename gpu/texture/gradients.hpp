// The spans of gradients: the texels of the base level between a read and its neighbours.
#pragma once
#include "gpu/texture/read.hpp"

namespace inflight::texture {

struct Spans {
  double x[3] = {}, y[3] = {};  // to the neighbours along x and y
  bool together = true;         // cubemaps: the read and both neighbours are on one face
};
Spans spans_of(const Texture& texture, const Read& how, const Request& request);

}  // namespace inflight::texture
