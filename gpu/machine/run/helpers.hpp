// Threads that help the one that launches with a grid's blocks.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>

namespace inflight::machine {

// Nothing depends on helpers: the launching thread runs blocks too, and a helper that has not come
// when it is done stays away.
class Helpers {
 public:
  // Each helper has a place, from 1 on. A thread keeps its place from launch to launch, so what it
  // wrote for one launch is in its caches for the next.
  using Work = std::function<void(unsigned place)>;

  // Calls for `count` threads. Each calls work(place) once.
  Helpers(Work work, unsigned count);
  ~Helpers() { dismiss(); }
  // Waits until no helper works any more, and throws what one of them threw.
  void finish();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

 private:
  class Pool;
  std::exception_ptr dismiss();

  const Work work_;
  bool dismissed_ = false;
  std::uint64_t call_ = 0;            // the pool's call for it; 0: the pool was busy with another
  bool fetched_ = false;              // it has asked for helpers to be fetched
  std::atomic<unsigned> present_{0};  // fetched helpers that work for it
  // The pool's mutex guards these.
  unsigned wanted_ = 0;  // helpers still to be fetched
  std::exception_ptr thrown_;
};

}  // namespace inflight::machine
