// What gradients span: the texels of the base level that lie between a read and its neighbours.
#pragma once
#include "gpu/texture/read.hpp"

namespace inflight::texture {

struct Spans {
  double x[3] = {}, y[3] = {};  // to the neighbour along x, and to the one along y
  bool together = true;         // cubemaps: all three are on one face
};
Spans spans_of(const Image& image, const Read& how, const Request& request);

}  // namespace inflight::texture
