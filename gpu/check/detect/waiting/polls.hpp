// What warps look at again and again, and what they see.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "gpu/check/events.hpp"

namespace inflight::check {

// Something that a warp looked at: the first lane's address, and what it read there.
struct Poll {
  Who who;
  Space space = Space::global;
  bool mbarrier = false;
  std::uint64_t address = 0, value = 0;
  std::uint32_t bytes = 0;
  bool same(const Poll& other) const {
    return who.instruction == other.who.instruction && space == other.space &&
           address == other.address && value == other.value && mbarrier == other.mbarrier;
  }
};

// The last few different things that a warp saw.
class WarpPolls {
 public:
  void saw(const Poll& poll);
  // For so many looks it has seen nothing new.
  std::uint64_t repeats() const { return repeats_; }
  // Of those, the last; null: it never looked.
  const Poll* last() const { return count_ == 0 ? nullptr : &seen_[(count_ - 1) % seen_.size()]; }
  template <class F>
  bool all_of(F f) const {
    for (std::size_t i = 0; i < std::min<std::size_t>(count_, seen_.size()); ++i)
      if (!f(seen_[i])) return false;
    return true;
  }

 private:
  std::array<Poll, 8> seen_{};
  std::size_t count_ = 0;
  std::uint64_t repeats_ = 0;
};

// Memory that nobody but kernels and calls of the API can change: what the host cannot write to.
class DeviceMemory {
 public:
  void note(const Allocation& event);
  bool holds(std::uint64_t address) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> ends_;  // by first address
};

}  // namespace inflight::check
