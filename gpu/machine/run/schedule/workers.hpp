// The host threads (workers) that run a launch's blocks, and how they share them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/schedule/helpers.hpp"
#include "gpu/machine/run/schedule/queues.hpp"
#include "gpu/machine/run/standstill.hpp"

namespace inflight::machine {

class Crew;

// Hands out clusters to workers. Fresh clusters come first, in order, while there is room for
// residents. Then each worker takes suspended clusters in turn, its own first.
class Clusters {
 public:
  Clusters(Grid& grid, std::uint64_t total, std::uint64_t resident_limit, unsigned workers);
  ~Clusters();

  struct Ticket {
    std::unique_ptr<Cluster> cluster;  // a suspended cluster
    std::uint64_t fresh = none;        // or the index of one to start
    static constexpr std::uint64_t none = ~0ull;
    explicit operator bool() const { return cluster || fresh != none; }
  };

  // Workers that have begun. Counted only if the launch waits for earlier grids.
  unsigned joined() const { return joined_.load(std::memory_order_relaxed); }
  // The queue of a worker that begins: that of its place, or else the next unclaimed one. Null:
  // every queue has a worker.
  WorkQueue* join(unsigned place);
  // An empty ticket: other workers have all that is left.
  Ticket take(WorkQueue& queue);
  void suspend(WorkQueue& queue, std::unique_ptr<Cluster> cluster);
  // The index of the next cluster, which will not be started; nothing if none is left.
  std::optional<std::uint64_t> cancel();
  std::uint64_t blocks_done() const;
  std::uint64_t blocks() const { return total_ * size(); }
  unsigned workers() const { return queues_.size(); }
  Grid& grid() const { return grid_; }
  // Called after each turn of a cluster, `done` or not, for a listener to hangs. Asks the listener
  // whether anything but polling can still happen, and ends the launch if not.
  void took_turn(WorkQueue& queue, Worker& worker, PollingPatience& patience, Cluster& cluster,
                 bool done);
  // Counts clusters that have ended. Workers report several at once, because all write there.
  void ended(std::uint64_t clusters);
  // Does a worker report those of its part, though it may get others?
  bool part_ended(const WorkQueue& queue) const { return parts_ && queue.fresh.empty(); }
  // Blocks that have not begun.
  std::uint64_t not_begun() const;
  // Is there room for them? Then a worker is about to begin one.
  bool about_to_begin() const { return not_begun() != 0 && has_room(); }
  // The clusters that have not ended, in their order. Call it after all workers have ended.
  std::vector<const Cluster*> unfinished() const;
  // The cluster that ended the launch because nobody could change what its threads poll; null:
  // none.
  const Cluster* livelocked() const { return livelocked_.load(std::memory_order_relaxed); }

 private:
  friend class Crew;
  std::uint64_t size() const { return grid_.launch->cluster.count(); }
  // The part of the grid that belongs to a queue, if `parts_`.
  FreshRun::Range part_of(const WorkQueue& queue) const;
  FreshRun::Range dispatch(WorkQueue& queue);
  std::uint64_t reserve(std::uint64_t finished, std::uint64_t wanted);
  FreshRun::Range steal_fresh(const WorkQueue& thief);
  std::unique_ptr<Cluster> steal_suspended(WorkQueue& thief);
  // Clusters that have not ended, of those handed out; or more, if some have just ended.
  std::uint64_t live() const;
  bool has_room() const { return !bounded_ || live() < limit_; }
  void polled(WorkQueue& queue, Worker& worker, PollingPatience& patience, Cluster& cluster);
  // Calls visit() with the other workers' queues until it returns true.
  template <class Visit>
  bool visit_others(const WorkQueue& self, Visit visit);

  Grid& grid_;
  const std::uint64_t total_, limit_;
  const bool bounded_;  // not all clusters have room at once
  Queues queues_;       // one per worker
  // Short clusters that wait for nobody, in whatever order: each queue has a part of the grid from
  // the start. It is the same in each launch, so a worker's caches still hold what it wrote in the
  // last one.
  bool parts_ = false;
  std::uint32_t first_length_ = 1;  // of a queue's first run
  alignas(128) std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> resident_{0};  // counted if bounded_
  // Clusters that are not reported as ended, and one until the next launch is known.
  alignas(128) std::atomic<std::uint64_t> remaining_;
  Crew* crew_ = nullptr;  // of a launch with helpers
  std::atomic<unsigned> joined_{0};
  std::atomic<std::uint64_t> cancelled_{0};
  std::atomic<bool> runs_{false};      // several fresh clusters were handed out at once
  std::atomic<bool> suspends_{false};  // some cluster was suspended
  std::atomic<const Cluster*> livelocked_{nullptr};
  Standstill standstill_;
};

// The workers of a launch: the launching thread and helpers that are free.
class Crew {
 public:
  // Calls helpers.
  explicit Crew(Clusters& clusters);
  // For the launch after `front`, which has helpers. The worker that ends the last cluster there
  // begins it, unless the grid there has stopped.
  Crew(Clusters& clusters, Crew& front);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  bool has_helpers() const { return helpers_.has_value(); }
  // For the next launch, once the previous one is over: begins it if no worker has.
  void resume();
  // The launching thread runs clusters until all have ended or the grid stops. The next launch's
  // crew must have been made before.
  void work();

 private:
  friend class Clusters;
  void all_ended();

  Clusters& clusters_;
  Crew* next_ = nullptr;
  bool worked_ = false;
  std::optional<Helpers> helpers_;  // the first to be destroyed
};

// The largest number of workers of a launch.
unsigned most_workers();

}  // namespace inflight::machine
