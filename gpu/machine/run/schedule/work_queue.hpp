// The clusters that one worker of a launch has to run. Idle workers steal from it.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {

// Fresh clusters that were handed to a worker together. The worker starts the first one next,
// without a lock. Others steal from the end.
class FreshRun {
 public:
  struct Range {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
  };

  static constexpr std::uint32_t most = 0xffff;  // in a run

  // For the owner: the next cluster, and a new run once there is none.
  Range pop();
  void fill(Range range);
  // For others: half of what is left, or nothing.
  Range steal();
  bool empty() const {
    const std::uint64_t state = state_.load(std::memory_order_relaxed);
    return begin(state) == end(state);
  }

 private:
  // The remaining range, counted from `first_`, and the number of the run, so that a thief does not
  // confuse two runs.
  static std::uint32_t begin(std::uint64_t state) { return state & 0xffff; }
  static std::uint32_t end(std::uint64_t state) { return state >> 16 & 0xffff; }
  static constexpr std::uint64_t one_begin = 1, one_end = 1 << 16, one_run = 1ull << 32;
  // Other threads write here, so it has cache lines of its own. (With alignas, the host's allocator
  // would take a slow path for the queues.)
  std::byte gap_before_[64];
  std::atomic<std::uint64_t> first_{0}, state_{0};
  std::byte gap_behind_[64];
};

// A worker's clusters: the fresh ones handed to it, and those that it has suspended, which get
// turns in order.
class WorkQueue {
 public:
  // The cycles of the clusters that are handed out together, about 50 microseconds.
  static constexpr std::uint64_t run_cycles = 16384;
  static constexpr std::uint32_t longest_run = 64;
  using Suspended = std::list<std::unique_ptr<Cluster>>;

  FreshRun fresh;

  // For a worker without a queue: takes the queue for a launch (Queues::use) and resets it.
  // `length` is the first next_length(). False: another worker has it.
  bool claim(std::uint64_t use, std::uint32_t length);
  // For any worker: takes the queue's part of the launch's clusters. False: another one has.
  bool take_part(std::uint64_t use);

  // For its worker only:
  void finished(std::uint64_t cycles);
  std::uint64_t report() { return std::exchange(unreported_, 0); }  // finished, not yet reported
  // The best number of clusters to hand out together if `clusters` took `cycles`.
  static std::uint32_t good_length(std::uint64_t clusters, std::uint64_t cycles) {
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(run_cycles * clusters / cycles, 1, longest_run));
  }
  std::uint32_t next_length();
  void suspend(std::unique_ptr<Cluster> cluster, bool progressed);
  void adopt(Suspended stolen);  // they are next
  std::unique_ptr<Cluster> resume();
  // Has every suspended cluster had a turn without progress?
  bool all_wait() const { return waited_ != 0 && waited_ >= suspended_count(); }
  void forget_waiting() { waited_ = 0; }

  // With a listener to hangs: its worker begins a turn of a cluster, and has ended it.
  void turn_begins() { turn_.store((turn() + 1) | 1, std::memory_order_release); }
  void turn_ended() { turn_.store((turn() | 1) + 1, std::memory_order_release); }

  // For any thread:
  // The number of the worker's last begin or end of a turn, with a listener to hangs: odd while it
  // is in one.
  std::uint64_t turn() const { return turn_.load(std::memory_order_acquire); }
  // Finished clusters of launch `use`.
  std::uint64_t done(std::uint64_t use) const {
    return claimed_.load(std::memory_order_acquire) == use ? finished_in_all() : 0;
  }
  std::size_t suspended_count() const { return suspended_count_.load(std::memory_order_relaxed); }
  // Half of the suspended clusters: those that are next.
  Suspended steal();
  const Suspended& suspended() const { return suspended_; }  // after all workers have ended

 private:
  std::uint64_t finished_in_all() const { return done_.load(std::memory_order_relaxed); }

  // The last launches that claimed the queue, and that took its part.
  std::atomic<std::uint64_t> claiming_{0}, claimed_{0}, part_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> turn_{0};
  std::uint64_t unreported_ = 0, finished_ = 0, cycles_ = 0;
  std::size_t waited_ = 0;    // consecutive turns of suspended clusters without progress
  std::uint32_t length_ = 1;  // of the next run
  std::mutex mutex_;
  Suspended suspended_;
  std::atomic<std::size_t> suspended_count_{0};
};

}  // namespace inflight::machine
