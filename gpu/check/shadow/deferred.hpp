// Reads of a block's shared memory whose check is deferred. Nothing was written since the last
// barrier of all threads of the block, so they conflict with nothing yet. If all threads meet at a
// barrier again before the next write, they never conflict, and are dropped.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "gpu/check/order/block.hpp"
#include "gpu/check/reads/read_log.hpp"
#include "gpu/check/shadow/read_summary.hpp"

namespace inflight::shadow {

struct Access;

class DeferredReads {
 public:
  // Stores the read for later. False: it must be checked now.
  bool try_defer(const order::Block& block, std::uint32_t warp, const Access& read);
  // Lets `log` note the block's further reads, if they can be deferred as the last one was. It must
  // be taken and closed before the block's epoch, joined() or memory changes.
  void open(const order::Block& block, ReadLog& log);
  // Takes the reads that `log` has noted since it was opened or last taken, as if try_defer() had
  // stored them. Calls f(read), which sets their places.
  template <class F>
  void take(const order::Block& block, const ReadLog& log, F f) {
    for (NotedRead* const end = log.next; reads_.get() + count_ != end; ++count_) {
      NotedRead& read = reads_[count_];
      read.epoch = last_ = block.epoch();
      f(read);
    }
  }
  // Call it before a write: calls f(read) for deferred reads, or for their elements, that the write
  // may conflict with.
  template <class F>
  void before_write(const order::Block& block, bool by_copy, F f) {
    written_ = block.epoch();
    copied_ |= by_copy;
    if (none()) return;
    if (last_ > block.joined()) {
      summary_.each(f);
      for (std::size_t i = 0; i < count_; ++i) f(std::as_const(reads_[i]));
      ++replayed_;
    } else {
      ++dropped_;
    }
    drop();
  }
  std::size_t heap_bytes() const { return room_ * sizeof(NotedRead) + summary_.heap_bytes(); }

 private:
  static constexpr std::size_t least = 64, most = 4096;
  static constexpr std::uint32_t max_excess_replays = 4;
  bool may_defer(const order::Block& block) const;
  bool none() const { return count_ == 0 && summary_.empty(); }
  void drop() {
    count_ = 0;
    summary_.clear();
  }
  void grow();
  std::unique_ptr<NotedRead[]> reads_;  // `count_` reads, and room for `room_`
  std::size_t count_ = 0, room_ = 0;
  ReadSummary summary_;                  // of earlier reads, once there are many
  order::Epoch last_ = 0, written_ = 0;  // of the latest read in reads_; of the latest write
  bool copied_ = false;                  // copies have written: a barrier does not order them
  std::uint32_t replayed_ = 0, dropped_ = 0;
};

}  // namespace inflight::shadow
