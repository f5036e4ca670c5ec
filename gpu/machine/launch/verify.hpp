// --compile verify: runs launches by the interpreter and in host code, and compares the two.
#pragma once
#include <functional>
#include <string_view>

#include "gpu/machine/launch/child_runner.hpp"

namespace inflight::machine {

// Runs a launch by the engine that the options name. `part`: what of the host code it uses.
using RunPart = Outcome (*)(const Launch&, const Limits&, const Options&,
                            const std::function<void(std::string_view)>& print, RunGrid::Part part);

// Memory, text, outcome and clock are the interpreter's in the end. A difference is passed to
// Options::differs, with the first block and entry that make it. Each launch starts from a copy of
// the memory that kernels may write, and on one worker, so that nothing but the engine differs.
// What cannot be repeated so is only interpreted, and Options::advise says why.
Outcome run_verified(const Launch& launch, const Limits& limits, const Options& options,
                     const std::function<void(std::string_view)>& print, RunPart run);

}  // namespace inflight::machine
