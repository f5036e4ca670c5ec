// Who looks after running launches: ends those that are cancelled or out of time, shows their
// progress.
#pragma once
#include <chrono>

#include "gpu/machine/progress.hpp"

namespace inflight::machine {

class Clusters;

// A launch that is watched from construction to destruction, by a thread that all launches share:
// who runs blocks never looks at the time. Launches that nothing can end early are not watched.
class Watch {
 public:
  explicit Watch(Clusters& clusters);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  class Watcher;

  // Looks once; the moment at which it wants to look again at the latest.
  Clock::time_point look(Clock::time_point now);

  Clusters& clusters_;
  const Clock::time_point begin_;
  const bool watched_;
  Progress progress_;
};

}  // namespace inflight::machine
