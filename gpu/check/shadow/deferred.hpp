// Reads of a block's shared memory whose check is deferred. Nothing was written since the last
// barrier of all threads of the block, so they conflict with nothing yet. If all threads meet at a
// barrier again before the next write, they never conflict, and are dropped.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "gpu/check/order/block.hpp"

namespace inflight::shadow {

struct Access;

class DeferredReads {
 public:
  struct Read {
    Read() {}  // NOLINT: filled in by try_defer()
    std::array<std::uint16_t, order::lanes> addresses;
    order::Mask lanes;
    std::uint32_t bytes, place, warp;
    order::Epoch epoch;
  };
  // Stores the read for later. False: it must be checked now.
  bool try_defer(const order::Block& block, std::uint32_t warp, const Access& read);
  // Call it before a write: calls f(read) for deferred reads that the write may conflict with.
  template <class F>
  void before_write(const order::Block& block, bool by_copy, F f) {
    written_ = block.epoch();
    copied_ |= by_copy;
    if (reads_.empty()) return;
    if (last_ > block.joined()) {
      for (const Read& read : reads_) f(read);
      ++replayed_;
    } else {
      ++dropped_;
    }
    reads_.clear();
  }
  std::size_t heap_bytes() const { return reads_.capacity() * sizeof(Read); }

 private:
  static constexpr std::size_t most = 4096;
  static constexpr std::uint32_t max_excess_replays = 4;
  std::vector<Read> reads_;
  order::Epoch last_ = 0, written_ = 0;  // of the latest read in reads_; of the latest write
  bool copied_ = false;                  // copies have written: a barrier does not order them
  std::uint32_t replayed_ = 0, dropped_ = 0;
};

}  // namespace inflight::shadow
