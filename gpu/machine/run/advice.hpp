// Advice on what is no fault but makes a launch's results doubtful: one line per place.
#pragma once
#include <cstdint>
#include <string_view>

#include "gpu/async/violation.hpp"
#include "gpu/machine/run/block.hpp"

namespace inflight::machine {

// The operation of instruction number `instruction`, or a copy that it issued, breaks a rule.
void advise(Grid& grid, async::Violation violation, std::uint64_t instruction);
// The instruction is doubtful for another reason, with the short name `name`.
void advise(Grid& grid, std::uint64_t instruction, std::string_view name, std::string_view what);

}  // namespace inflight::machine
