// The total time during which at least one of several, perhaps overlapping, activities ran.
#pragma once
#include <atomic>
#include <chrono>
#include <mutex>

namespace inflight::cuda {

// Counts from the first call of total(). Until then an activity does not read the clock.
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

  // Includes activities that still run, up to now.
  std::chrono::nanoseconds total() const {
    std::lock_guard lock(mutex_);
    if (!watched_.exchange(true)) since_ = Clock::now();
    return running_ > 0 ? total_ + (Clock::now() - since_) : total_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void begin() {
    if (!watched_) {
      ++running_;
      return;
    }
    std::lock_guard lock(mutex_);
    if (running_++ == 0) since_ = Clock::now();
  }
  void end() {
    if (!watched_) {
      --running_;
      return;
    }
    std::lock_guard lock(mutex_);
    if (--running_ == 0) total_ += Clock::now() - since_;
  }

  mutable std::mutex mutex_;
  mutable std::atomic<bool> watched_{false};
  std::atomic<int> running_{0};
  mutable Clock::time_point since_;
  std::chrono::nanoseconds total_{};
};

}  // namespace inflight::cuda
