// The constant memory that a block has read. Nothing in the block's launch changes it, so one check
// of each read is enough.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/check/events.hpp"

namespace inflight::check::races {

class Constants {
 public:
  // Returns lanes whose bytes no thread of the block has read, as far as the cache remembers.
  Mask unread(const Access& access);

 private:
  static constexpr std::size_t slots = 1024;
  struct Read {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
  };
  std::vector<Read> read_;
};

}  // namespace inflight::check::races
