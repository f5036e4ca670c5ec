// Runs a launch of a kernel: the entry point of the machine.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/machine/config/dependency.hpp"
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

// A launch that is prepared while the one before it runs, and that a helper can begin when that one
// ends. What is passed must outlive it.
class PreparedLaunch final : public NextLaunch {
 public:
  PreparedLaunch(const Launch&, const Limits&, const Options&,
                 const std::function<void(std::string_view)>& print);
  // Ends the launch if it has begun.
  ~PreparedLaunch() override;
  // Checks and decodes. False: it needs what only run() above does. From now on only
  // Launch::dependents may change.
  bool prepare();
  // After prepare().
  void follow(RunningLaunch& previous) override;
  // Runs it to its end, once the launch before it is over.
  Outcome run();

 private:
  class Parts;
  const std::unique_ptr<Parts> parts_;
};

// The parts of a kernel that this machine cannot run, a sentence each.
struct Unsupported {
  std::vector<std::string> kernel;        // reasons why it cannot begin
  std::vector<std::string> instructions;  // it runs until it reaches one of these
};
// Decodes the kernel in the form that this launch with this listener (null: none) runs.
Unsupported unsupported(const Launch&, const check::Listener*);
// Decodes it in the form of a launch without clusters and listener.
[[gnu::visibility("default")]] Unsupported unsupported(const Kernel&);

// "avx512", "avx2" or "baseline": the instruction set that run() uses on this host.
std::string_view instruction_set();

}  // namespace inflight::machine
