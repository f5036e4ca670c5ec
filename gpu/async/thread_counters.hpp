// A counter for each thread of a warp.
#pragma once
#include <bit>
#include <cstdint>

namespace inflight::async {

// Counts commits for 32 threads at once, in bit slices. Bit p of all counters is in plane_[p].
// Threads that reach `limit` carry out of the last plane.
class ThreadCounters {
 public:
  explicit ThreadCounters(std::uint32_t limit)
      : planes_(static_cast<unsigned>(std::bit_width(limit - 1))) {
    const std::uint32_t start = (1u << planes_) - limit;
    for (unsigned p = 0; p < planes_; ++p) plane_[p] = start >> p & 1 ? ~0u : 0;
  }
  // Adds one for `threads` and returns those that have now reached the limit.
  std::uint32_t add(std::uint32_t threads) {
    for (unsigned p = 0; p < planes_ && threads != 0; ++p) {
      const std::uint32_t carry = plane_[p] & threads;
      plane_[p] ^= threads;
      threads = carry;
    }
    return threads;
  }

 private:
  unsigned planes_;
  std::uint32_t plane_[32];
};

}  // namespace inflight::async
