// Watches running launches: ends those that are cancelled, interrupted or out of time, and shows
// progress.
#pragma once
#include <chrono>
#include <string>

#include "gpu/machine/launch/progress_line.hpp"
#include "gpu/machine/report/outcome.hpp"

namespace inflight::machine {

class Clusters;

// Watches a launch from construction to destruction, on a thread that all launches share, so
// workers never read the time. Launches that nothing can end early are not watched.
class Watch {
 public:
  // `begun`: when the host's launch began that it belongs to, from which on its time counts.
  Watch(Clusters& clusters, std::chrono::steady_clock::time_point begun);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  class Watcher;

  // Checks once. Returns the latest time of the next check.
  Clock::time_point check(Clock::time_point now);
  // Ctrl-C came while this launch ran. `at_once`: end it now, because it came again.
  void interrupt(Clock::time_point now, bool at_once);
  void end(FaultKind kind, const std::string& how);

  Clusters& clusters_;
  const Clock::time_point begun_, begin_;
  const bool watched_;
  Clock::time_point give_up_ = Clock::time_point::max();  // when to end it after a Ctrl-C
  ProgressLine progress_;
};

}  // namespace inflight::machine
