// What is no fault but makes a launch's results doubtful: one line a place.
#pragma once
#include <cstdint>

#include "gpu/async/violation.hpp"
#include "gpu/machine/run/block.hpp"

namespace inflight::machine {

// A copy that the instruction of this number issued broke a rule after its issue.
void advise(Grid& grid, async::Violation violation, std::uint64_t instruction);

}  // namespace inflight::machine
