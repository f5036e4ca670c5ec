// Checks every instruction that a test executes against its description: it writes only the
// registers listed as written, and its result depends only on those listed as read.
#pragma once
#include "gpu/machine/link/program.hpp"

namespace inflight::machine {

// Audits all later runs of this program's functions. Call it once per program, before its first
// launch.
void audit(const Program& program);

}  // namespace inflight::machine
