// The thread that looks at all running launches a few times a second.
#include "gpu/machine/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "gpu/machine/block.hpp"
#include "gpu/machine/report.hpp"
#include "gpu/machine/workers.hpp"

namespace inflight::machine {
namespace {

constexpr std::chrono::milliseconds tick{20};  // how late a cancellation may be

}  // namespace

// Sleeps without end while nothing runs, and goes on ticking for a while after a launch: most
// launches then wake nobody.
class Watch::Watcher {
 public:
  static Watcher& get() {
    static Watcher& shared = *new Watcher;
    return shared;
  }

  void add(Watch& watch) {
    std::lock_guard lock(mutex_);
    if (!started_) std::thread([this] { work(); }).detach();
    started_ = true;
    watches_.push_back(&watch);
    if (asleep_) changed_.notify_one();
  }
  void remove(Watch& watch) {
    std::lock_guard lock(mutex_);
    std::erase(watches_, &watch);
  }

 private:
  // A host without memory for a sentence is asked again later.
  static Clock::time_point look_at(Watch& watch, Clock::time_point now) {
    try {
      return watch.look(now);
    } catch (const std::exception&) {
      return now + tick;
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      asleep_ = true;
      changed_.wait(lock, [this] { return !watches_.empty(); });
      asleep_ = false;
      while (!watches_.empty()) {
        const auto now = Clock::now();
        auto next = now + tick;
        for (Watch* watch : watches_) next = std::min(next, look_at(*watch, now));
        lock.unlock();
        std::this_thread::sleep_until(next);
        lock.lock();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Watch*> watches_;
  bool started_ = false, asleep_ = false;
};

Watch::Watch(Clusters& clusters)
    : clusters_(clusters),
      begin_(Clock::now()),
      watched_(clusters.grid().launch->cancel || clusters.grid().options->timeout.count() != 0 ||
               clusters.grid().options->progress),
      progress_(*clusters.grid().options) {
  if (watched_) Watcher::get().add(*this);
}

Watch::~Watch() {
  if (watched_) Watcher::get().remove(*this);
}

Watch::Clock::time_point Watch::look(Clock::time_point now) {
  Grid& grid = clusters_.grid();
  if (grid.launch->cancel && grid.launch->cancel->load()) grid.stop = true;
  progress_.show(grid.launch->kernel->name, now - begin_, clusters_.blocks_done(),
                 clusters_.blocks());
  const auto timeout = grid.options->timeout;
  if (timeout.count() == 0) return Clock::time_point::max();
  if (now - begin_ < timeout) return begin_ + timeout;
  if (!grid.stop)
    grid.fail(
        FaultKind::timeout,
        fmt::format("kernel {} was ended after {} ms, the limit that --timeout sets; {} of {} "
                    "blocks were done\n",
                    kernel_of(grid), timeout.count(), clusters_.blocks_done(), clusters_.blocks()));
  return Clock::time_point::max();
}

}  // namespace inflight::machine
