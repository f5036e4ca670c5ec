// Threads that help the one that launches with a grid's blocks.
#pragma once
#include <atomic>
#include <exception>
#include <functional>

namespace inflight::machine {

// Nothing depends on them: the launching thread runs blocks too, and who has not come when it is
// done stays away.
class Helpers {
 public:
  // Each helper has a place, from 1 on, and is likely to have it again in the next launch: what it
  // had in its caches is still there.
  using Work = std::function<void(unsigned place)>;

  // Asks for `count` threads that call work(place), in a launch of their own each.
  Helpers(Work work, unsigned count);
  ~Helpers() { dismiss(); }
  // Waits until nobody helps any more, and throws what one of them threw.
  void finish();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

 private:
  class Pool;
  std::exception_ptr dismiss();

  const Work work_;
  bool dismissed_ = false;
  // The pool's mutex guards these, but for `present_`.
  unsigned wanted_ = 0;               // whom nobody has been asked for yet
  std::atomic<unsigned> present_{0};  // who help, or have been asked to
  std::exception_ptr thrown_;
};

}  // namespace inflight::machine
