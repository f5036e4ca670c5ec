// Memory that lies at several addresses of the process: files that are mapped more than once, as
// programs do that share memory between their threads as they do between processes.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <shared_mutex>

namespace inflight::check::races {

class Aliases {
 public:
  // Memory comes, which may show bytes that are known at another address already.
  void made(std::uint64_t address, std::uint64_t bytes);
  void released(std::uint64_t address);
  // There are such addresses.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  // The one address by which the byte is known.
  std::uint64_t at(std::uint64_t address) const;

 private:
  struct Mapped {
    std::uint64_t end = 0;
    std::uint64_t device = 0, file = 0, offset = 0;
    std::uint64_t known_at = 0;  // of its first byte: its own address, or the first that shows it
    std::uint64_t made = 0;      // the memory that it is part of
  };
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Mapped> mapped_;  // by address
  std::atomic<bool> any_{false};
};

}  // namespace inflight::check::races
