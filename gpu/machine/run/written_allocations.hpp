// The allocations that a launch's kernel has written to. No thread of the kernel can have changed
// any other under a copy in flight, so copies from those need no watching.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

namespace inflight::machine {

class WrittenAllocations {
 public:
  bool test(std::uint64_t base) const { return slot(base).load(std::memory_order_relaxed); }
  // Returns true if it was not marked before.
  bool mark(std::uint64_t base) {
    return !test(base) && !slot(base).exchange(true, std::memory_order_relaxed);
  }

 private:
  // Allocations that share a slot are marked together. Then some are watched without need.
  static constexpr unsigned slots = 1024, granule = 256;  // least distance of two bases
  static std::size_t index(std::uint64_t base) { return base / granule * 0x9e3779b97f4a7c15 >> 54; }
  std::atomic<bool>& slot(std::uint64_t base) { return marks_[index(base)]; }
  const std::atomic<bool>& slot(std::uint64_t base) const { return marks_[index(base)]; }
  std::array<std::atomic<bool>, slots> marks_{};
};

}  // namespace inflight::machine
