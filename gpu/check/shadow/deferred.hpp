// Reads of a block's shared memory that are not looked at yet: nothing was written there since the
// last barrier of all its threads, so that they conflict with nothing, and if all threads meet
// again before anything is written, with nothing ever.
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
    Read() {}  // NOLINT: it is filled in as it is kept
    std::array<std::uint16_t, order::lanes> addresses;
    order::Mask lanes;
    std::uint32_t bytes, place, warp;
    order::Epoch epoch;
  };
  // False: it must be looked at now.
  bool take(const order::Block& block, std::uint32_t warp, const Access& read);
  // Something is about to be written: f(read) for those that may conflict with it.
  template <class F>
  void written(const order::Block& block, bool by_copy, F f) {
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
  static constexpr std::uint32_t patience = 4;
  std::vector<Read> reads_;
  order::Epoch last_ = 0, written_ = 0;  // of the latest read here; of the latest write
  bool copied_ = false;                  // copies have written, which a barrier does not order
  std::uint32_t replayed_ = 0, dropped_ = 0;
};

}  // namespace inflight::shadow
