// Runs a launch of a kernel: the entry point of the machine.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/machine/config/launch.hpp"
#include "gpu/machine/config/limits.hpp"
#include "gpu/machine/config/options.hpp"
#include "gpu/machine/link/program.hpp"
#include "gpu/machine/report/outcome.hpp"

namespace inflight::machine {

// Runs a launch to its end on the calling thread and helpers. Thread-safe: several launches may run
// at once. Passes what kernels print to `print` in whole messages.
Outcome run(const Launch&, const Limits&, const Options&,
            const std::function<void(std::string_view)>& print);

// The parts of a kernel that this machine cannot run, a sentence each. (`inflight ptx`, and every
// launch.)
struct Unsupported {
  std::vector<std::string> kernel;        // reasons why it cannot begin
  std::vector<std::string> instructions;  // it runs until it reaches one of these
};
[[gnu::visibility("default")]] Unsupported unsupported(const Kernel&);

// Does the machine supply this function to programs that only declare it?
bool supplies(std::string_view function);

// "avx512", "avx2" or "baseline": the instruction set that run() uses on this host.
std::string_view instruction_set();

}  // namespace inflight::machine
