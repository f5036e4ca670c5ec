// Instructions with .aligned, on matrices and register counts, which a whole warp executes
// together.
#pragma once
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {

// Whether a fault ends the kernel because lanes of the warp have ended. PTX does not define such an
// instruction then, and a chip executes it. The fault is raised only when a checker is attached.
bool lanes_have_ended(Warp& w, const Op* op);

}  // namespace inflight::machine
