// Queues of clusters from which other workers can steal.
#include "gpu/machine/run/schedule/work_queue.hpp"

namespace inflight::machine {
namespace {

// True for the one caller that changes the number of the last launch to `use`.
bool set_once(std::atomic<std::uint64_t>& last, std::uint64_t use) {
  std::uint64_t seen = last.load(std::memory_order_relaxed);
  return seen != use && last.compare_exchange_strong(seen, use, std::memory_order_acq_rel);
}

}  // namespace

FreshRun::Range FreshRun::pop() {
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  while (begin(state) != end(state))
    if (state_.compare_exchange_weak(state, state + one_begin, std::memory_order_relaxed))
      return {first_.load(std::memory_order_relaxed) + begin(state), 1};
  return {};
}

void FreshRun::fill(Range range) {
  const std::uint64_t run = (state_.load(std::memory_order_relaxed) & -one_run) + one_run;
  first_.store(range.first, std::memory_order_relaxed);
  state_.store(run | range.count * one_end, std::memory_order_release);
}

FreshRun::Range FreshRun::steal() {
  std::uint64_t state = state_.load(std::memory_order_acquire);
  while (begin(state) != end(state)) {
    const std::uint32_t half = (end(state) - begin(state) + 1) / 2;
    const std::uint64_t first = first_.load(std::memory_order_relaxed);
    // Fails if the run has changed meanwhile.
    if (state_.compare_exchange_weak(state, state - half * one_end, std::memory_order_acquire))
      return {first + end(state) - half, half};
  }
  return {};
}

bool WorkQueue::claim(std::uint64_t use, std::uint32_t length) {
  if (!set_once(claiming_, use)) return false;
  done_.store(0, std::memory_order_relaxed);
  unreported_ = finished_ = cycles_ = 0;
  waited_ = 0;
  length_ = length;
  claimed_.store(use, std::memory_order_release);
  return true;
}

bool WorkQueue::take_part(std::uint64_t use) { return set_once(part_, use); }

void WorkQueue::finished(std::uint64_t cycles) {
  ++unreported_;
  ++finished_;
  cycles_ += cycles;
  done_.store(finished_in_all() + 1, std::memory_order_relaxed);
}

// Grows if clusters turn out to be short: at most doubles each time.
std::uint32_t WorkQueue::next_length() {
  if (finished_ != 0) {
    length_ = std::min(good_length(finished_, std::max<std::uint64_t>(cycles_, 1)), 2 * length_);
    finished_ = cycles_ = 0;
  }
  return length_;
}

// A suspended cluster may wait for one that has not started, so none is kept waiting for others
// in a run.
void WorkQueue::suspend(std::unique_ptr<Cluster> cluster, bool progressed) {
  length_ = 1;
  waited_ = progressed ? 0 : waited_ + 1;
  std::lock_guard lock(mutex_);
  suspended_.push_back(std::move(cluster));
  suspended_count_.store(suspended_.size(), std::memory_order_relaxed);
}

void WorkQueue::adopt(Suspended stolen) {
  std::lock_guard lock(mutex_);
  suspended_.splice(suspended_.begin(), stolen);
  suspended_count_.store(suspended_.size(), std::memory_order_relaxed);
}

std::unique_ptr<Cluster> WorkQueue::resume() {
  if (suspended_count() == 0) return nullptr;  // only this worker adds clusters
  std::lock_guard lock(mutex_);
  if (suspended_.empty()) return nullptr;
  auto cluster = std::move(suspended_.front());
  suspended_.pop_front();
  suspended_count_.store(suspended_.size(), std::memory_order_relaxed);
  return cluster;
}

WorkQueue::Suspended WorkQueue::steal() {
  Suspended stolen;
  std::lock_guard lock(mutex_);
  const auto half = static_cast<std::ptrdiff_t>((suspended_.size() + 1) / 2);
  stolen.splice(stolen.end(), suspended_, suspended_.begin(), std::next(suspended_.begin(), half));
  suspended_count_.store(suspended_.size(), std::memory_order_relaxed);
  return stolen;
}

}  // namespace inflight::machine
