// The host threads that run a launch's blocks, and what they hand each other.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {

// Hands out clusters to workers: fresh ones in order while there is room for residents, then the
// suspended ones in turn.
class Clusters {
 public:
  Clusters(Grid& grid, std::uint64_t total, std::uint64_t resident_limit)
      : grid_(grid), total_(total), limit_(resident_limit) {}

  struct Ticket {
    std::unique_ptr<Cluster> cluster;  // a suspended one
    std::uint64_t fresh = none;        // or the index of one to start
    static constexpr std::uint64_t none = ~0ull;
    explicit operator bool() const { return cluster || fresh != none; }
  };

  // Nothing: other workers hold what is left.
  Ticket take();
  void suspend(std::unique_ptr<Cluster> cluster);
  void finish();
  std::uint64_t blocks_done() const { return done_.load(std::memory_order_relaxed) * size(); }
  std::uint64_t blocks() const { return total_ * size(); }
  Grid& grid() const { return grid_; }
  // Once no worker is left: of the clusters that have not ended, the first; null if all have.
  const Cluster* unfinished() const;

 private:
  std::uint64_t size() const { return grid_.launch->cluster.count(); }
  Grid& grid_;
  const std::uint64_t total_, limit_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<Cluster>> suspended_;
  std::uint64_t next_ = 0, resident_ = 0;
  std::atomic<std::uint64_t> done_{0};
};

// Runs all clusters to their ends, or until the grid stops: on the calling thread and on others of
// the machine's that have time for it.
void run_all(Clusters& clusters, unsigned workers);

// How many workers a launch has if nothing else is asked: one a core.
unsigned host_cores();

}  // namespace inflight::machine
