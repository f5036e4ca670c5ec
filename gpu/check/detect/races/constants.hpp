// The constant memory that a block has read. One check of each read is enough until the block
// publishes something or writes there: before, no write can come after the read and conflict with a
// later one alone.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/check/events.hpp"
#include "gpu/check/order/clock.hpp"

namespace inflight::check::races {

class Constants {
 public:
  // Returns lanes whose bytes no thread of the block has read in this epoch, as far as the cache
  // remembers.
  Mask unread(const Access& access, order::Epoch epoch);
  // Threads of the block write to global addresses, which may be those of constant memory.
  void written(const Access& access, Mask mask);
  void forget();

 private:
  static constexpr std::size_t slots = 1024;
  struct Read {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    order::Epoch epoch = 0;
  };
  std::vector<Read> read_;
  std::uint64_t low_ = ~std::uint64_t{0}, high_ = 0;  // bounds of what has been read
};

}  // namespace inflight::check::races
