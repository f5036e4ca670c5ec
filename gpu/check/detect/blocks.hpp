// A detector's state for each running block or cluster.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "gpu/check/listener.hpp"

namespace inflight::check {

// States by launch and number. Thread-safe. Events of one cluster's blocks come one after the
// other, so a State needs no lock of its own.
template <class State>
class Blocks {
 public:
  // For the thread that runs the block. Returns the state. Its first use calls make().
  template <class Make>
  State& get(std::uint64_t launch, std::uint64_t number, Make&& make) {
    Last& last = remembered();
    if (last.is(turn(), launch, number)) return *last.state;
    Shard& shard = shard_of(launch, number);
    const std::lock_guard lock(shard.mutex);
    Entry& entry = shard.entry({launch, number});
    if (!entry.state) entry.state = make();
    last = {turn(), launch, number, entry.state.get()};
    return *entry.state;
  }
  // Returns the state, also of a block that another thread runs. Null: there is none. A block that
  // ends meanwhile leaves the state to the caller.
  std::shared_ptr<State> held(std::uint64_t launch, std::uint64_t number) {
    Shard& shard = shard_of(launch, number);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.entries.find({launch, number});
    return found == shard.entries.end() ? nullptr : found->second.state;
  }
  // For the thread that runs the block. Returns null if there is no state.
  State* find(std::uint64_t launch, std::uint64_t number) {
    Last& last = remembered();
    if (last.is(turn(), launch, number)) return last.state;
    Shard& shard = shard_of(launch, number);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.entries.find({launch, number});
    if (found == shard.entries.end()) return nullptr;
    last = {turn(), launch, number, found->second.state.get()};
    return last.state;
  }
  // One of its `blocks` blocks has ended. The last one's end removes the state.
  void ended(std::uint64_t launch, std::uint64_t number, std::uint32_t blocks = 1) {
    Shard& shard = shard_of(launch, number);
    std::shared_ptr<State> gone;
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.entries.find({launch, number});
    if (found == shard.entries.end() || ++found->second.ended < blocks) return;
    gone = std::move(found->second.state);
    shard.spare = shard.entries.extract(found);
    if (remembered().is(turn(), launch, number)) remembered() = {};
  }
  // Differs for each Blocks and after each launch.
  std::uint64_t turn() const { return turn_.load(std::memory_order_relaxed); }
  // Removes what is left of a launch: blocks of a launch that ends by a fault never end.
  void launch_ended(std::uint64_t launch) {
    turn_.store(++turns, std::memory_order_relaxed);
    for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      std::erase_if(shard.entries, [&](const auto& each) { return each.first.first == launch; });
    }
  }

 private:
  // A one-entry cache per host thread, which mostly needs one block again and again. Numbers of
  // launches and blocks are not reused, so the entry is valid while that block runs and not used
  // afterwards.
  struct Last {
    std::uint64_t turn = 0, launch = 0, number = 0;
    State* state = nullptr;
    bool is(std::uint64_t t, std::uint64_t l, std::uint64_t n) const {
      return turn == t && launch == l && number == n;
    }
  };
  static Last& remembered() {
    thread_local Last last;
    return last;
  }

  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return key.first * 0x9e3779b97f4a7c15ull ^ key.second;
    }
  };
  struct Entry {
    std::shared_ptr<State> state;
    std::uint32_t ended = 0;  // number of its blocks that have ended
  };
  using Entries = std::unordered_map<Key, Entry, Hash>;
  struct Shard {
    std::mutex mutex;
    Entries entries;
    typename Entries::node_type spare;  // of an entry that was removed
    Entry& entry(const Key& key) {
      if (!spare) return entries[key];
      spare.key() = key, spare.mapped() = {};
      const auto placed = entries.insert(std::move(spare));
      return placed.position->second;
    }
  };
  Shard& shard_of(std::uint64_t launch, std::uint64_t number) {
    return shards_[(launch + number) % shards_.size()];
  }
  static inline std::atomic<std::uint64_t> turns{0};
  std::atomic<std::uint64_t> turn_{++turns};
  std::array<Shard, 64> shards_;
};

// A detector that keeps a State for each block and removes it when the block or its launch ends.
template <class State>
class PerBlock : public Listener {
 public:
  void block_end(const BlockEnd& event) final {
    State* const state = blocks_.find(event.kernel->launch, event.block);
    if (!state) return;
    block_ends(*state);
    blocks_.ended(event.kernel->launch, event.block);
  }
  void kernel_end(const KernelEnd& event) final {
    blocks_.launch_ended(event.kernel->launch);
    launch_ended(event.kernel->launch);
  }

 protected:
  State& made(std::uint64_t launch, std::uint64_t block) {
    return blocks_.get(launch, block, [] { return std::make_shared<State>(); });
  }
  State& of(const Who& who) { return made(who.launch, who.block); }
  State* find(const Who& who) { return blocks_.find(who.launch, who.block); }

 private:
  virtual void block_ends(State&) {}
  virtual void launch_ended(std::uint64_t) {}
  Blocks<State> blocks_;
};

}  // namespace inflight::check
