// A detector's state of each block that runs.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace inflight::check {

// Events of a cluster's blocks come one after the other, so a State needs no lock of its own.
template <class State>
class Blocks {
 public:
  // Made by make() at its first use.
  template <class Make>
  State& get(std::uint64_t launch, std::uint64_t block, Make&& make) {
    Shard& shard = shard_of(launch, block);
    const std::lock_guard lock(shard.mutex);
    std::unique_ptr<State>& state = shard.states[{launch, block}];
    if (!state) state = make();
    return *state;
  }
  // Null: there is none.
  State* find(std::uint64_t launch, std::uint64_t block) {
    Shard& shard = shard_of(launch, block);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.states.find({launch, block});
    return found == shard.states.end() ? nullptr : found->second.get();
  }
  void remove(std::uint64_t launch, std::uint64_t block) {
    Shard& shard = shard_of(launch, block);
    const std::lock_guard lock(shard.mutex);
    shard.states.erase({launch, block});
  }
  // Of a launch that has ended by a fault, blocks never end. f(block, State&) before each goes.
  template <class F>
  void remove_launch(std::uint64_t launch, F&& f) {
    for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      for (auto each = shard.states.begin(); each != shard.states.end();) {
        if (each->first.first != launch) {
          ++each;
          continue;
        }
        f(each->first.second, *each->second);
        each = shard.states.erase(each);
      }
    }
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return key.first * 0x9e3779b97f4a7c15ull ^ key.second;
    }
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<Key, std::unique_ptr<State>, Hash> states;
  };
  Shard& shard_of(std::uint64_t launch, std::uint64_t block) {
    return shards_[(launch + block) % shards_.size()];
  }
  std::array<Shard, 64> shards_;
};

}  // namespace inflight::check
