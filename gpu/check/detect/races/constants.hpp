// Which constant memory a block has read: nothing in its launch changes it, so once is enough.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/check/events.hpp"

namespace inflight::check::races {

class Constants {
 public:
  // The lanes whose bytes no thread of the block has read yet, as far as is remembered.
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
