// Holds every instruction that a test executes against its description: it writes no register but
// those that it is said to write, and what it computes depends on none but those that it is said
// to read.
#pragma once
#include "gpu/machine/link/program.hpp"

namespace inflight::machine {

// From now on, whenever functions of this program run. Once a program, before its first launch.
void audit(const Program& program);

}  // namespace inflight::machine
