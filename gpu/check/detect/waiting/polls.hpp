// What warps look at again and again, what they see, and what they wrote where others may look.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "gpu/check/events.hpp"

namespace inflight::check {

// Where something lies: global memory, or the shared memory of a block.
struct Spot {
  Space space = Space::global;
  std::uint64_t block = 0;  // of shared memory: the first of its cluster
  std::uint16_t rank = 0;   // likewise: whose
  std::uint64_t address = 0;
  auto operator<=>(const Spot&) const = default;
};

// Something that a warp looked at: the first lane's address, and what it read there.
struct Poll {
  Who who;
  Spot at;
  bool mbarrier = false;
  std::uint64_t value = 0;
  std::uint32_t bytes = 0;
  bool same(const Poll& other) const {
    return who.instruction == other.who.instruction && value == other.value && at == other.at &&
           mbarrier == other.mbarrier;
  }
};

// What a warp wrote by a strong store, or changed by an exchange or compare-and-swap: a lane's.
struct Write {
  Who who;
  Spot at;
  std::uint64_t value = 0;
  std::uint64_t number = 0;  // counts the writes of all
};

// The last few places that a warp wrote to.
class WarpWrites {
 public:
  void wrote(const Write& write);
  template <class F>
  void each(F f) const {
    for (std::size_t i = 0; i < std::min<std::size_t>(count_, last_.size()); ++i) f(last_[i]);
  }

 private:
  std::array<Write, 8> last_{};
  std::size_t count_ = 0;
};

// The last few different things that a warp saw.
class WarpPolls {
 public:
  void saw(const Poll& poll);
  static constexpr std::uint64_t many = 1000;  // looks that saw nothing new
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
