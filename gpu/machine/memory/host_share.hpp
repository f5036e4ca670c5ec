// The limit on the host memory that all devices' memory may take together.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

namespace inflight::machine {

class HostShare {
 public:
  explicit HostShare(std::uint64_t limit) : limit_(limit) {}  // bytes

  // Returns false and takes nothing if fewer than `bytes` are left.
  bool take(std::uint64_t bytes) {
    std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ - std::min(taken, limit_)) return false;
    } while (!taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::uint64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::uint64_t limit() const { return limit_; }
  std::uint64_t left() const {
    return limit_ - std::min(limit_, taken_.load(std::memory_order_relaxed));
  }

 private:
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace inflight::machine
