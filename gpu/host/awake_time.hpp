// The host's time, without the pauses in which the host did not let this process run.
#pragma once
#include <algorithm>
#include <chrono>

namespace inflight::host {

// The time of a thread that looks at it often. Between two looks, at most `longest` passes: the
// thread would have looked again if the host had let it run. So a wait measured by it is no shorter
// on a host that gives the process a small part of a core than on one that gives it all.
class AwakeTime {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds longest{2};

  std::chrono::nanoseconds now() { return at(Clock::now()); }
  // A look at a time of the host.
  std::chrono::nanoseconds at(Clock::time_point host) {
    total_ +=
        std::clamp<std::chrono::nanoseconds>(host - last_, std::chrono::nanoseconds{0}, longest);
    last_ = host;
    return total_;
  }

 private:
  Clock::time_point last_{};
  std::chrono::nanoseconds total_{0};
};

// Waits until wait(deadline) returns true, or this thread has been awake for a time. Returns
// whether it did. For waits that take this long only if what they wait for does not come.
template <class Wait>
bool wait_awake(std::chrono::milliseconds time, Wait wait) {
  for (std::chrono::milliseconds passed{0}; passed < time; passed += AwakeTime::longest)
    if (wait(AwakeTime::Clock::now() + AwakeTime::longest)) return true;
  return false;
}

}  // namespace inflight::host
