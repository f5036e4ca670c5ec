// For how long at least one of several activities went on, which may overlap.
#pragma once
#include <chrono>
#include <mutex>

namespace inflight::cuda {

class BusyTime {
 public:
  // An activity, from construction to destruction.
  class Span {
   public:
    explicit Span(BusyTime& of) : of_(of) { of_.begin(); }
    ~Span() { of_.end(); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    BusyTime& of_;
  };

  // What goes on now counts up to now.
  std::chrono::nanoseconds total() const {
    std::lock_guard lock(mutex_);
    return running_ > 0 ? total_ + (Clock::now() - since_) : total_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void begin() {
    std::lock_guard lock(mutex_);
    if (running_++ == 0) since_ = Clock::now();
  }
  void end() {
    std::lock_guard lock(mutex_);
    if (--running_ == 0) total_ += Clock::now() - since_;
  }

  mutable std::mutex mutex_;
  int running_ = 0;
  Clock::time_point since_;
  std::chrono::nanoseconds total_{};
};

}  // namespace inflight::cuda
