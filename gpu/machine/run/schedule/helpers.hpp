// Threads that help a launching thread to run a grid's blocks.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>

namespace inflight::machine {

// A launch needs no helper: the launching thread runs blocks too. A helper that has not come before
// the end is dismissed.
class Helpers {
 public:
  // Each helper has a place, from 1 on. A thread keeps its place between launches, so its caches
  // still hold what it wrote for the last launch.
  using Work = std::function<void(unsigned place)>;

  // Calls for `count` threads. Each calls work(place) once. Fewer come if the launch ends before,
  // and more if a thread that was not counted as awake hears the call too.
  Helpers(Work work, unsigned count);
  // For the launch after `front`: front.open_next() calls, or else resume().
  Helpers(Work work, unsigned count, Helpers& front);
  ~Helpers() { dismiss(); }
  // Calls for the next launch, if there is one: all blocks of this one have ended. For the
  // launching thread or a helper, once.
  void open_next();
  // For the next launch, once the previous one has finished: has open_next() called?
  bool opened() const { return call_ != 0; }
  // Then fetches the threads that are missing. For the launching thread.
  void resume();
  // Waits until no helper works any more, and rethrows what one of them threw.
  void finish();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

 private:
  class Pool;
  std::exception_ptr dismiss();

  const Work work_;
  const unsigned count_;
  Helpers* next_ = nullptr;  // the next launch, whose call is prepared
  bool dismissed_ = false;
  std::uint64_t call_ = 0;            // the pool's call for it; 0: the pool was busy with another
  bool fetched_ = false;              // it has requested helpers from oneTBB
  std::atomic<unsigned> present_{0};  // fetched helpers at work
  // Guarded by the pool's mutex:
  unsigned wanted_ = 0;  // helpers still to be fetched
  std::exception_ptr thrown_;
};

}  // namespace inflight::machine
