// Instructions that a whole warp executes together: those with .aligned, of matrices and registers.
#pragma once
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Have lanes that the warp began with ended? PTX leaves open what such an instruction then does,
// and a chip goes on; who looks for mistakes gets a fault, after which this is true.
bool lanes_have_ended(Warp& w, const Op* op);

}  // namespace inflight::machine
