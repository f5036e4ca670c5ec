// The orders in which the threads of a launch take locks.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "gpu/check/detect/moments.hpp"

namespace inflight::check::locks {

struct Word {
  std::uint64_t owner = 0;  // of shared memory: 1 + the block's linear index; 0: global memory
  std::uint64_t address = 0;
  auto operator<=>(const Word&) const = default;
};

// A thread takes a lock.
struct Taking {
  Word lock;
  Who who;  // one lane
  Space space = Space::global;
  std::uint32_t bytes = 0;
  std::uint64_t free = 0;  // the word's value without a holder
  Moment before;           // of the thread's first look at the lock
  Moment then;             // without what it knows
};

// A thread that holds a lock waits for another.
struct Nesting {
  Taking held, wanted;
  std::vector<Word> others;  // further locks that it holds
};

// Thread-safe.
class LockOrder {
 public:
  // Adds a nesting. Returns a circle of nestings, of which each wants the lock that the next one
  // holds, if nothing prevents their threads from waiting for each other. Empty: none was found.
  std::vector<Nesting> add(Nesting nesting);
  // Memory was released, and may be used for other locks.
  void forget(std::uint64_t address, std::uint64_t bytes);

 private:
  static constexpr std::uint32_t most_added = 1u << 16;  // of two instructions
  static constexpr std::size_t most_kept = 1u << 16;
  static constexpr std::size_t most_of_pair = 8;  // of two locks
  static constexpr std::size_t longest = 8;       // circle
  static constexpr std::uint32_t most_steps = 1000;
  using Circle = std::vector<const Nesting*>;

  void keep(Nesting&& nesting);
  bool close(Circle& circle, std::uint32_t& steps) const;

  std::mutex mutex_;
  std::map<Word, std::map<Word, std::vector<Nesting>>> by_held_;  // then by wanted; newest ones
  std::size_t kept_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> added_;  // by instructions
};

}  // namespace inflight::check::locks
