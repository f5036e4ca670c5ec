// A host thread that runs blocks, and its caches.
#pragma once
#include <array>
#include <cstdint>
#include <memory>

#include "gpu/machine/code/op.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::machine {

struct Worker {
  // The last extent in which each memory op found its address, by a hash of the op's address.
  struct CachedExtent {
    Extent extent;
    std::uint64_t launch = 0, generation = 0;
  };
  static constexpr unsigned extents = 256;
  std::array<CachedExtent, extents> cache;
  CachedExtent& cached(const Op* op) {
    return cache[(reinterpret_cast<std::uintptr_t>(op) / sizeof(Op)) % extents];
  }
  // A cached extent is valid for one launch, and until the next change to the memory's allocations.
  // To clear the cache for each launch would take longer than many a block.
  bool is_valid(const CachedExtent& each, const Memory& memory) const {
    return each.launch == launch && each.generation == memory.generation();
  }

  std::uint64_t launch = 1;   // counts the worker's launches
  std::uint64_t lookups = 0;  // extents that `cache` lacked
  bool give_up = false;       // try_wait returns false instead of waiting on
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
