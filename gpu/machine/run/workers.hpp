// Who runs a launch's blocks: what is handed to each worker, and what workers hand each other.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/work_queue.hpp"

namespace inflight::machine {

// Hands out clusters to workers: fresh ones in order while there is room for residents, then the
// suspended ones in turn, each worker its own first.
class Clusters {
 public:
  Clusters(Grid& grid, std::uint64_t total, std::uint64_t resident_limit, unsigned workers);

  struct Ticket {
    std::unique_ptr<Cluster> cluster;  // a suspended one
    std::uint64_t fresh = none;        // or the index of one to start
    static constexpr std::uint64_t none = ~0ull;
    explicit operator bool() const { return cluster || fresh != none; }
  };

  // Workers that have begun, where grids in front are waited for.
  unsigned joined() const { return joined_.load(std::memory_order_relaxed); }
  // The queue of a worker that begins: that of its place, or the next that nobody has. Null: each
  // has its worker.
  WorkQueue* join(unsigned place);
  // Nothing: other workers hold what is left.
  Ticket take(WorkQueue& queue);
  void suspend(WorkQueue& queue, std::unique_ptr<Cluster> cluster);
  std::uint64_t blocks_done() const;
  std::uint64_t blocks() const { return total_ * size(); }
  unsigned workers() const { return static_cast<unsigned>(queues_.size()); }
  Grid& grid() const { return grid_; }
  // A worker's cluster has had its turn, `done` or not. It is asked whether anything but polling
  // can happen any more; if not, the launch ends. Only where somebody listens.
  void took_turn(WorkQueue& queue, const Cluster& cluster, bool done);
  // Blocks that have not begun.
  std::uint64_t not_begun() const;
  // Once no worker is left: the clusters that have not ended, in their order.
  std::vector<const Cluster*> unfinished() const;
  // The cluster of which nobody could change what its threads poll, so that the launch ended; null:
  // none.
  const Cluster* hopeless() const { return hopeless_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t size() const { return grid_.launch->cluster.count(); }
  void share_out();
  FreshRun::Range hand_out(WorkQueue& queue);
  std::uint64_t reserve(std::uint64_t finished, std::uint64_t wanted);
  FreshRun::Range steal_fresh(const WorkQueue& thief);
  std::unique_ptr<Cluster> steal_suspended(WorkQueue& thief);
  // Calls visit() with the other workers' queues until it returns true.
  template <class Visit>
  bool visit_others(const WorkQueue& self, Visit visit);

  Grid& grid_;
  const std::uint64_t total_, limit_;
  const bool bounded_;             // is there not room for all?
  std::vector<WorkQueue> queues_;  // one a worker
  alignas(128) std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> resident_{0};  // of a bounded launch
  std::atomic<unsigned> joined_{0};
  std::atomic<bool> runs_{false};      // have some been handed out together?
  std::atomic<bool> suspends_{false};  // has one been suspended?
  std::atomic<const Cluster*> hopeless_{nullptr};
  std::atomic<std::int64_t> moved_;  // when anything but polling happened last, in nanoseconds
};

// Runs all clusters to their ends, or until the grid stops: on the calling thread and on others of
// the machine's that have time for it.
void run_all(Clusters& clusters);

// How many workers a launch has at most.
unsigned most_workers();

}  // namespace inflight::machine
