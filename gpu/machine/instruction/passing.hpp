// Whether a thread that has ended has gone past an instruction, or may have returned before it.
#pragma once
#include <cstdint>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Do all paths through the function, those around the instruction too, lead through a point behind
// it, from which none comes back and where there is more than the end?
bool all_pass_behind(const Function& function, std::uint32_t instruction);

}  // namespace inflight::machine
