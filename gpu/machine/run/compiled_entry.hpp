// Where an interpreted warp enters another engine's code.
#pragma once
#include "gpu/machine/code/op.hpp"

namespace inflight::machine {

// The handler of an op at which another engine can be entered: by whole warps of launches that use
// it. For others, the op's own handler.
const Op* run_entry(Warp& w, const Op* op);

}  // namespace inflight::machine
