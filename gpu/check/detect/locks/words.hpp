// Words of memory that the threads of a launch use as locks, or write where others may look.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "gpu/check/detect/locks/lock_order.hpp"

namespace inflight::check::locks {

// Words that threads have tried to take as locks. Thread-safe.
class LockWords {
 public:
  void add(const Word& word) {
    if (contains(word)) return;
    const std::lock_guard lock(mutex_);
    if (words_.size() < most) words_.insert(word);
    any_.store(true, std::memory_order_relaxed);
  }
  bool any() const { return any_.load(std::memory_order_relaxed); }
  bool contains(const Word& word) {
    if (!any()) return false;
    const std::lock_guard lock(mutex_);
    return words_.contains(word);
  }

 private:
  static constexpr std::size_t most = 1u << 18;
  std::mutex mutex_;
  std::set<Word> words_;
  std::atomic<bool> any_{false};
};

// Who wrote what, in units of 4 bytes. Thread-safe.
class WrittenWords {
 public:
  using Thread = std::uint64_t;
  void add(Word at, std::uint32_t bytes, Thread by) {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t unit = at.address / 4; unit <= (at.address + bytes - 1) / 4; ++unit) {
      if (writers_.size() == most) full_ = true;
      if (full_) return;
      const auto [found, fresh] = writers_.try_emplace({at.owner, unit}, by);
      if (!fresh && found->second != by) found->second = several;
    }
  }
  // Whether another thread may have written any of the bytes.
  bool by_others(Word at, std::uint32_t bytes, Thread than) {
    const std::lock_guard lock(mutex_);
    if (full_) return true;
    for (std::uint64_t unit = at.address / 4; unit <= (at.address + bytes - 1) / 4; ++unit) {
      const auto found = writers_.find({at.owner, unit});
      if (found != writers_.end() && found->second != than) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t most = 1u << 16;
  static constexpr Thread several = ~Thread{0};
  std::mutex mutex_;
  std::map<Word, Thread> writers_;  // by owner and unit
  bool full_ = false;
};

}  // namespace inflight::check::locks
