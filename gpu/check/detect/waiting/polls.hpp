// The locations that warps poll, the values they read, and what warps wrote that others may poll.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "gpu/check/events.hpp"

namespace inflight::check {

// A location in global memory or in the shared memory of a block.
struct Spot {
  Space space = Space::global;
  std::uint64_t block = 0;  // shared memory: the first block of the cluster
  std::uint16_t rank = 0;   // shared memory: the owner's rank in the cluster
  std::uint64_t address = 0;
  auto operator<=>(const Spot&) const = default;
};

// A poll by a warp: the first lane's address and the value that it read.
struct Poll {
  Who who;
  Spot at;
  bool mbarrier = false;
  std::uint64_t value = 0;
  std::uint32_t bytes = 0;
  bool asks_the_same(const Poll& other) const {
    return who.instruction == other.who.instruction && at == other.at && mbarrier == other.mbarrier;
  }
  bool same(const Poll& other) const { return asks_the_same(other) && value == other.value; }
};

// One lane's strong store, or its exchange or compare-and-swap that changed the value.
struct Write {
  Who who;
  Spot at;
  std::uint64_t value = 0;
  std::uint64_t number = 0;  // increases with each write of any warp
};

// The last few locations that a warp wrote.
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

// The last few different polls of a warp.
class WarpPolls {
 public:
  // `writes`: the number of writes so far, as in Write::number.
  void saw(const Poll& poll, std::uint64_t writes);
  // The warp saw what it waited for.
  void go_on() { repeats_ = 0; }
  static constexpr std::uint64_t many = 1000;  // repeats() from which on it counts as stuck
  // The number of polls since the last one that read something new.
  std::uint64_t repeats() const { return repeats_; }
  // Write::number of the next write at one of the last polls, at least `many` of them ago if they
  // read nothing new.
  std::uint64_t since() const { return since_; }
  // Did one of the last `many` polls read what another one did not, at the same place? Then what
  // the warp reads still changes, if only between values that it has seen before.
  bool sees_changes() const;
  // The last different poll. Null if the warp never polled.
  const Poll* last() const { return count_ == 0 ? nullptr : &seen_[(count_ - 1) % seen_.size()]; }
  template <class F>
  bool all_of(F f) const {
    for (std::size_t i = 0; i < std::min<std::size_t>(count_, seen_.size()); ++i)
      if (!f(seen_[i])) return false;
    return true;
  }

 private:
  std::array<Poll, 8> seen_{};
  std::array<std::uint64_t, 8> last_at_{};  // the number of the last poll like it
  std::uint64_t polls_ = 0;
  std::size_t count_ = 0;
  std::uint64_t repeats_ = 0, since_ = 0, then_ = 0;
};

// Memory that only kernels and API calls can change, because the host cannot write to it directly.
// Thread-safe.
class DeviceMemory {
 public:
  void note(const Allocation& event);
  bool holds(std::uint64_t address) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> ends_;  // by first address
};

}  // namespace inflight::check
