// setmaxnreg: warpgroups release registers to their block's pool and take registers from it.
#pragma once
#include "gpu/machine/lowering/lowering.hpp"

namespace inflight::machine {

bool lower_setmaxnreg(Lowering& lo);

}  // namespace inflight::machine
