// The thread that checks all running launches 50 times a second.
#include "gpu/machine/launch/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "gpu/check/names.hpp"
#include "gpu/machine/launch/interrupt.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/schedule/workers.hpp"

namespace inflight::machine {
namespace {

constexpr std::chrono::milliseconds tick{20};  // the longest delay of a cancellation
// After this time Ctrl-C reaches a launch.
constexpr std::chrono::milliseconds long_running{200};
// A program with its own handler, such as Python, may use the device afterwards. So a kernel gets
// `grace_period` to end by itself, unless Ctrl-C comes again within `repeat_window`.
constexpr std::chrono::seconds grace_period{2}, repeat_window{10};

}  // namespace

// Sleeps while nothing runs, and continues to tick briefly after a launch, so that most launches
// need not wake it.
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
  // If memory for a sentence is lacking, tries again later.
  static Clock::time_point check_at(Watch& watch, Clock::time_point now) {
    try {
      return watch.check(now);
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
        handle_interrupts(now);
        for (Watch* watch : watches_) next = std::min(next, check_at(*watch, now));
        lock.unlock();
        std::this_thread::sleep_until(next);
        lock.lock();
      }
      interrupt::leave();
    }
  }

  void handle_interrupts(Clock::time_point now) {
    const auto runs_long = [now](const Watch* watch) {
      return now - watch->begin_ >= long_running;
    };
    if (std::ranges::any_of(watches_, runs_long)) interrupt::listen();
    const unsigned count = interrupt::count();
    if (count == interrupts_) return;
    const bool again =
        count - interrupts_ > 1 || (interrupts_ != 0 && now - interrupted_ < repeat_window);
    interrupts_ = count;
    interrupted_ = now;
    for (Watch* watch : watches_) watch->interrupt(now, again);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Watch*> watches_;
  unsigned interrupts_ = 0;        // so far
  Clock::time_point interrupted_;  // time of the last one
  bool started_ = false, asleep_ = false;
};

Watch::Watch(Clusters& clusters, Clock::time_point begun)
    : clusters_(clusters),
      begun_(begun),
      begin_(Clock::now()),
      watched_(clusters.grid().launch->cancel || clusters.grid().launch->origin.stop ||
               clusters.grid().options->timeout.count() != 0 || clusters.grid().options->progress),
      progress_(*clusters.grid().options) {
  if (watched_) Watcher::get().add(*this);
}

Watch::~Watch() {
  if (watched_) Watcher::get().remove(*this);
}

Watch::Clock::time_point Watch::check(Clock::time_point now) {
  Grid& grid = clusters_.grid();
  const Launch& launch = *grid.launch;
  if (launch.cancel && launch.cancel->load()) grid.stop = true;
  if (launch.origin.stop && launch.origin.stop->load()) grid.stop = true;
  progress_.show(grid.launch->kernel->name, now - begin_, clusters_.blocks_done(),
                 clusters_.blocks());
  if (now >= give_up_)
    end(FaultKind::interrupted, fmt::format("by Ctrl-C (SIGINT) after {:.1f} s",
                                            std::chrono::duration<double>(now - begin_).count()));
  const auto timeout = grid.options->timeout;
  if (timeout.count() == 0) return Clock::time_point::max();
  if (now - begun_ < timeout) return begun_ + timeout;
  end(FaultKind::timeout,
      fmt::format("after {} ms, the limit that --timeout sets", timeout.count()));
  return Clock::time_point::max();
}

void Watch::interrupt(Clock::time_point now, bool at_once) {
  const bool handled = interrupt::disposition() == interrupt::Disposition::handles;
  give_up_ = std::min(give_up_, handled && !at_once ? now + grace_period : now);
}

void Watch::end(FaultKind kind, const std::string& how) {
  Grid& grid = clusters_.grid();
  if (grid.stop) return;
  grid.fail(kind, fmt::format("kernel {} was stopped {}; {} of {} blocks were done\n",
                              check::readable(grid.launch->kernel->name), how,
                              clusters_.blocks_done(), clusters_.blocks()));
}

}  // namespace inflight::machine
