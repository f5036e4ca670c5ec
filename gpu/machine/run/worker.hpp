// A host thread that runs blocks, and its caches.
#pragma once
#include <array>
#include <cstdint>
#include <memory>

#include "gpu/host/awake_time.hpp"
#include "gpu/machine/code/op.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::machine {

struct Worker {
  // The last extent in which each memory op found its address, by a hash of the op's address.
  struct CachedExtent {
    std::uint64_t low = 0, read_end = 0;
    std::uint64_t write_end = 0;   // read_end, or low if the op may not write there
    std::uint64_t generation = 0;  // of the memory when it was found; 0: none was
    // Whether accesses of `bytes` bytes each, from `first` to `last`, are in it.
    bool holds(std::uint64_t first, std::uint64_t last, std::uint64_t bytes, bool writes,
               const Memory& memory) const {
      const std::uint64_t end = writes ? write_end : read_end;
      return generation == memory.generation() && first >= low && last <= end &&
             bytes <= end - last;
    }
  };
  static constexpr unsigned extents = 256;
  const CachedExtent& cached(const Op* op) const { return cache_[slot(op)]; }
  // `writes`: the op may write there. A first write is noted for each launch.
  void keep(const Op* op, const Extent& e, bool writes, std::uint64_t generation) {
    CachedExtent& at = cache_[slot(op)];
    if (at.generation == 0) used_[used_count_++] = static_cast<std::uint8_t>(slot(op));
    at = {e.low, e.high, writes ? e.high : e.low, generation};
  }
  // A cached extent is valid for one launch, and until the next change to the memory's allocations.
  // Clearing the whole cache would take longer than many a block.
  void begin_launch();

  std::uint64_t lookups = 0;  // extents that `cache` lacked
  bool give_up = false;       // try_wait returns false instead of waiting on
  host::AwakeTime awake;      // looked at in turns that only poll

 private:
  static std::size_t slot(const Op* op) {
    return reinterpret_cast<std::uintptr_t>(op) / sizeof(Op) % extents;
  }
  std::array<CachedExtent, extents> cache_;
  std::array<std::uint8_t, extents> used_{};  // the slots that hold one
  unsigned used_count_ = 0;
};

// The worker that the calling host thread keeps between launches, at the start of one. A launch
// inside another one on the same thread has a worker of its own.
class WorkerOfThread {
 public:
  WorkerOfThread();
  ~WorkerOfThread();
  WorkerOfThread(const WorkerOfThread&) = delete;
  WorkerOfThread& operator=(const WorkerOfThread&) = delete;
  Worker& operator*() const { return *worker_; }

 private:
  std::unique_ptr<Worker> worker_;
};

}  // namespace inflight::machine
