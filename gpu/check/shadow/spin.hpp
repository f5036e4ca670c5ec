// A spin lock, to be held for nanoseconds and with little contention.
#pragma once
#include <atomic>
#include <thread>

namespace inflight::shadow {

class Spin {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace inflight::shadow
