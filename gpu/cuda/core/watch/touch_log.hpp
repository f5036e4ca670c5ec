// A log of touches, which a signal handler writes and a thread reads later.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace inflight::cuda::watch {

struct Touch {
  std::uint64_t address = 0, bytes = 1;
  bool write = false;
  std::uint64_t code = 0;                 // the instruction, or a call's return address
  std::array<std::uint64_t, 64> stack{};  // top of the stack, with return addresses
};

// Any number of threads add without locks, and one takes. A touch is dropped if the log is full.
class TouchLog {
 public:
  // Adds a touch, which f(Touch&) fills in.
  template <class F>
  void add(F f) {
    std::uint64_t at = next_.load(std::memory_order_relaxed);
    do {
      if (at - taken_.load(std::memory_order_acquire) >= entries_.size()) return;
    } while (!next_.compare_exchange_weak(at, at + 1, std::memory_order_acq_rel));
    Entry& entry = entries_[at % entries_.size()];
    f(entry.touch);
    entry.number.store(at + 1, std::memory_order_release);
  }
  bool empty() const {
    return taken_.load(std::memory_order_relaxed) == next_.load(std::memory_order_acquire);
  }
  // Calls f(const Touch&) for each touch that was begun before the call, in order. Waits for
  // touches that a thread is still writing, because later ones may be the caller's own.
  template <class F>
  void take(F f) {
    const std::uint64_t end = next_.load(std::memory_order_acquire);
    for (std::uint64_t at = taken_.load(std::memory_order_relaxed); at < end; ++at) {
      const Entry& entry = entries_[at % entries_.size()];
      while (entry.number.load(std::memory_order_acquire) != at + 1) std::this_thread::yield();
      f(entry.touch);
      taken_.store(at + 1, std::memory_order_release);
    }
  }

  // For a forked child: no thread is left to finish touches that were begun.
  void forget() { taken_ = next_.load(); }

 private:
  struct Entry {
    std::atomic<std::uint64_t> number{0};
    Touch touch;
  };
  std::array<Entry, 4096> entries_;
  std::atomic<std::uint64_t> next_{0}, taken_{0};
};

}  // namespace inflight::cuda::watch
