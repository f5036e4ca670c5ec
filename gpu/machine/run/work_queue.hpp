// What one worker of a launch is to do. Others, when they have nothing, take from it.
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

// Fresh clusters that were handed to a worker together. It starts the first one next, without a
// lock; others steal from the end.
class FreshRun {
 public:
  struct Range {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
  };

  static constexpr std::uint32_t most = 0xffff;  // in a run

  // By the worker whose run it is: the next one, and a new run once there is none.
  Range pop();
  void fill(Range range);
  // Half of what is left, or nothing.
  Range steal();

 private:
  // What is left, counted from `first_`, and a number of the run: a thief must not take one run for
  // another.
  static std::uint32_t begin(std::uint64_t state) { return state & 0xffff; }
  static std::uint32_t end(std::uint64_t state) { return state >> 16 & 0xffff; }
  static constexpr std::uint64_t one_begin = 1, one_end = 1 << 16, one_run = 1ull << 32;
  // Others write here: what its neighbours hold is on lines of its own. (Aligned, queues would come
  // from a slow path of the host's allocator.)
  std::byte gap_before_[64];
  std::atomic<std::uint64_t> first_{0}, state_{0};
  std::byte gap_behind_[64];
};

// A worker's clusters: the fresh ones that it was handed, and those that it has suspended, which
// get turns in order.
class WorkQueue {
 public:
  // As many clusters are handed out together as take so many cycles, about 50 microseconds.
  static constexpr std::uint64_t run_cycles = 16384;
  static constexpr std::uint32_t longest_run = 64;
  using Suspended = std::list<std::unique_ptr<Cluster>>;

  FreshRun fresh;

  // By a worker that looks for one: false if it is another's.
  bool claim() { return !claimed_.exchange(true, std::memory_order_acq_rel); }

  // By its worker alone.
  void finished(std::uint64_t cycles);
  std::uint64_t report() { return std::exchange(unreported_, 0); }  // finished since the last
  // How many clusters it is best handed together, where so many took so many cycles.
  static std::uint32_t good_length(std::uint64_t clusters, std::uint64_t cycles) {
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(run_cycles * clusters / cycles, 1, longest_run));
  }
  void expect(std::uint32_t length) { length_ = length; }  // at first
  std::uint32_t next_length();
  void suspend(std::unique_ptr<Cluster> cluster, bool progressed);
  void adopt(Suspended stolen);  // their turn is next
  std::unique_ptr<Cluster> resume();
  // Has every one of them had a turn and only waited?
  bool all_wait() const { return waited_ != 0 && waited_ >= suspended_count(); }
  void forget_waiting() { waited_ = 0; }

  // Of a launch that somebody listens to: when its worker's turn began, in nanoseconds; 0: in none.
  std::int64_t ask_at = 0;  // when its worker next asks whether all only poll
  void turn(std::int64_t began) { turn_.store(began, std::memory_order_relaxed); }

  // By anybody.
  std::int64_t turn() const { return turn_.load(std::memory_order_relaxed); }
  std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  std::size_t suspended_count() const { return suspended_count_.load(std::memory_order_relaxed); }
  // Half of the suspended: those whose turn is next.
  Suspended steal();
  const Suspended& suspended() const { return suspended_; }  // once no worker is left

 private:
  std::atomic<bool> claimed_{false};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> turn_{0};
  std::uint64_t unreported_ = 0, finished_ = 0, cycles_ = 0;
  std::size_t waited_ = 0;    // turns of suspended ones in a row that brought nothing forward
  std::uint32_t length_ = 1;  // of the next run
  std::mutex mutex_;
  Suspended suspended_;
  std::atomic<std::size_t> suspended_count_{0};
};

}  // namespace inflight::machine
