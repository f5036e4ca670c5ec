// What is no fault but makes a launch's results doubtful: one line a place.
#pragma once
#include <cstdint>
#include <string_view>

#include "gpu/async/violation.hpp"
#include "gpu/machine/run/block.hpp"

namespace inflight::machine {

// A copy that the instruction of this number issued broke a rule after its issue.
void advise(Grid& grid, async::Violation violation, std::uint64_t instruction);
// What this instruction does is doubtful for another reason, whose name is short.
void advise(Grid& grid, std::uint64_t instruction, std::string_view name, std::string_view what);

}  // namespace inflight::machine
