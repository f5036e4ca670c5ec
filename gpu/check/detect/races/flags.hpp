// Locations that threads poll. Volatile accesses to them hand nothing over but themselves.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace inflight::check::races {

// Thread-safe.
class Flags {
 public:
  void add(std::uint64_t key) {
    Shard& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    if (shard.keys.size() < most) shard.keys.insert(key);
  }
  bool contain(std::uint64_t key) const {
    const Shard& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    return shard.keys.size() == most || shard.keys.contains(key);
  }
  void clear() {
    for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      shard.keys.clear();
    }
  }

 private:
  static constexpr std::size_t most = 1 << 12;  // beyond, any location may be one
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_set<std::uint64_t> keys;  // key_of() their addresses
  };
  static constexpr std::size_t shards = 16;
  static std::size_t index(std::uint64_t key) { return key / 4 % shards; }
  Shard& shard_of(std::uint64_t key) { return shards_[index(key)]; }
  const Shard& shard_of(std::uint64_t key) const { return shards_[index(key)]; }
  std::array<Shard, shards> shards_;
};

}  // namespace inflight::check::races
