// Locations that threads synchronise on, by address: of global memory, and of a block's shared
// memory.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/check/order/release.hpp"

namespace inflight::check::races {

// Locations of global memory. Thread-safe.
class Locations {
 public:
  // Calls f(order::Location&) under a lock of that address. Without `make`, only if the location
  // exists. Returns whether f was called.
  template <class F>
  bool with(std::uint64_t address, bool make, F&& f) {
    Shard& shard = shards_[address / shard_bytes % shards_.size()];
    if (!make && !shard.used.load(std::memory_order_relaxed)) return false;
    const std::lock_guard lock(shard.mutex);
    if (make) shard.used.store(true, std::memory_order_relaxed);
    const auto found =
        make ? shard.locations.try_emplace(address).first : shard.locations.find(address);
    if (found == shard.locations.end()) return false;
    f(found->second);
    return true;
  }
  void forget(std::uint64_t address, std::uint64_t bytes);

 private:
  static constexpr std::uint64_t shard_bytes = 256;
  struct Shard {
    std::mutex mutex;
    std::map<std::uint64_t, order::Location> locations;
    std::atomic<bool> used{false};  // it has had a location
  };
  std::array<Shard, 64> shards_;
};

// Locations of a block's shared memory, which begins at 0 and is small. Not thread-safe.
class OwnLocations {
 public:
  // Returns null if there is none.
  order::Location* find(std::uint64_t address) const {
    const std::uint64_t page = address / page_bytes;
    return page < pages_.size() && pages_[page] ? (*pages_[page])[address % page_bytes] : nullptr;
  }
  order::Location& at(std::uint64_t address) {
    const std::uint64_t page = address / page_bytes;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    order::Location*& found = (*pages_[page])[address % page_bytes];
    if (!found) found = all_.emplace_back(std::make_unique<order::Location>()).get();
    return *found;
  }

 private:
  static constexpr std::uint64_t page_bytes = 128;
  using Page = std::array<order::Location*, page_bytes>;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::unique_ptr<order::Location>> all_;
};

}  // namespace inflight::check::races
