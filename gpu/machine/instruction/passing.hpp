// Whether threads must have gone past an instruction: those that have ended, and those at another.
#pragma once
#include <cstdint>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Whether there is a block after `instruction` that every path through the function goes through,
// from which no path leads back to the instruction, and which has more than ret or exit. Paths that
// avoid the instruction count too.
bool all_pass_behind(const Function& function, std::uint32_t instruction);

// Whether a path leads from `before` to `instruction`, and none back.
bool has_left(const Function& function, std::uint32_t before, std::uint32_t instruction);

}  // namespace inflight::machine
