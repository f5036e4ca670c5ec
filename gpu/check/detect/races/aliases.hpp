// Memory that is mapped at several addresses of the process: files mapped more than once, as by
// programs that share memory between threads in the same way as between processes. Thread-safe.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <shared_mutex>

namespace inflight::check::races {

class Aliases {
 public:
  // New memory, which may alias bytes already known at another address.
  void made(std::uint64_t address, std::uint64_t bytes);
  void released(std::uint64_t address);
  // Whether any memory has several addresses.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  // The canonical address of the byte.
  std::uint64_t at(std::uint64_t address) const;

 private:
  struct Mapped {
    std::uint64_t end = 0;
    std::uint64_t device = 0, file = 0, offset = 0;
    std::uint64_t known_at = 0;  // canonical address of its first byte
    std::uint64_t made = 0;      // address of the memory that it is part of
  };
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Mapped> mapped_;  // by address
  std::atomic<bool> any_{false};
};

}  // namespace inflight::check::races
