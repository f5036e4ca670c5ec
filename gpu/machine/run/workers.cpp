// Workers take clusters in turn; the launching thread is one of them.
#include "gpu/machine/run/workers.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace inflight::machine {
namespace {

constexpr std::uint32_t turn = 4096;  // rounds of a block's warps before other blocks get a turn

void run_clusters(Clusters& clusters) {
  Grid& grid = clusters.grid();
  Worker worker;
  std::vector<std::unique_ptr<Cluster>> spare;
  while (!grid.stop.load(std::memory_order_relaxed)) {
    auto ticket = clusters.take();
    if (!ticket) return;
    auto cluster = std::move(ticket.cluster);
    if (!cluster) {
      if (spare.empty()) {
        cluster = std::make_unique<Cluster>(grid);
      } else {
        cluster = std::move(spare.back());
        spare.pop_back();
      }
      cluster->start(ticket.fresh);
    }
    const bool done = cluster->run(worker, turn) == Cluster::State::done;
    if (!done || grid.stop.load(std::memory_order_relaxed)) {
      clusters.suspend(std::move(cluster));
    } else {
      clusters.finish();
      spare.push_back(std::move(cluster));
    }
  }
}

// What throws in one worker, such as the end of the host's memory, ends the launch for all.
void work(Clusters& clusters) {
  try {
    run_clusters(clusters);
  } catch (...) {
    clusters.grid().stop = true;
    throw;
  }
}

// Other threads that help with a launch's blocks. Nothing depends on them: the launching thread
// runs blocks too, and who has not come when it is done stays away.
class Helpers {
 public:
  Helpers(Clusters& clusters, unsigned count) : desk_(std::make_shared<Desk>()) {
    desk_->clusters = &clusters;
    try {
      for (unsigned i = 0; i < count; ++i) pool().ask(desk_);
    } catch (const std::bad_alloc&) {  // fewer help
    }
  }
  ~Helpers() { dismiss(); }
  // Waits until nobody helps any more, and throws what one of them threw.
  void finish() {
    if (auto thrown = dismiss()) std::rethrow_exception(thrown);
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

 private:
  struct Desk {
    std::mutex mutex;
    std::condition_variable left;
    Clusters* clusters = nullptr;  // null: closed
    unsigned present = 0;
    std::exception_ptr thrown;
  };

  std::exception_ptr dismiss() {
    std::unique_lock lock(desk_->mutex);
    desk_->clusters = nullptr;
    desk_->left.wait(lock, [&] { return desk_->present == 0; });
    return std::exchange(desk_->thrown, nullptr);
  }

  static void help(Desk& desk) {
    std::unique_lock lock(desk.mutex);
    if (!desk.clusters) return;
    ++desk.present;
    Clusters& clusters = *desk.clusters;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      work(clusters);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (thrown) desk.thrown = thrown;
    if (--desk.present == 0) desk.left.notify_one();
  }

  // The threads. A task carries nothing and is made under the mutex that it takes first, so that
  // ThreadSanitizer, to which oneTBB's library is opaque, sees who made it before who runs it.
  class Pool {
   public:
    void ask(const std::shared_ptr<Desk>& desk) {
      std::lock_guard lock(mutex_);
      asked_.push_back(desk);
      try {
        arena_.enqueue([] { help(*pool().next()); });
      } catch (...) {
        asked_.pop_back();
        throw;
      }
    }

   private:
    std::shared_ptr<Desk> next() {
      std::lock_guard lock(mutex_);
      auto desk = std::move(asked_.front());
      asked_.pop_front();
      return desk;
    }
    tbb::task_arena arena_{static_cast<int>(std::max(2u, host_cores())), 1};
    std::mutex mutex_;
    std::deque<std::shared_ptr<Desk>> asked_;  // one for each task that has not begun
  };
  // All launches share it, so that none pays for waking threads that are awake.
  static Pool& pool() {
    static auto& shared = *new Pool;
    return shared;
  }

  std::shared_ptr<Desk> desk_;
};

}  // namespace

Clusters::Ticket Clusters::take() {
  std::lock_guard lock(mutex_);
  if (next_ < total_ && resident_ < limit_) {
    ++resident_;
    return {nullptr, start_order(grid_.options->turns, next_++, total_, limit_)};
  }
  if (suspended_.empty()) return {};
  Ticket t{std::move(suspended_.front())};
  suspended_.pop_front();
  return t;
}

void Clusters::suspend(std::unique_ptr<Cluster> cluster) {
  std::lock_guard lock(mutex_);
  suspended_.push_back(std::move(cluster));
}

void Clusters::finish() {
  std::lock_guard lock(mutex_);
  --resident_;
  done_.fetch_add(1, std::memory_order_relaxed);
}

const Cluster* Clusters::unfinished() const {
  const auto first =
      std::min_element(suspended_.begin(), suspended_.end(), [](const auto& a, const auto& b) {
        return a->blocks.front()->linear < b->blocks.front()->linear;
      });
  return first == suspended_.end() ? nullptr : first->get();
}

void run_all(Clusters& clusters, unsigned workers) {
  if (workers <= 1) return work(clusters);
  Helpers helpers(clusters, workers - 1);
  work(clusters);
  helpers.finish();
}

// Asked once: the answer is a file of the kernel's.
unsigned host_cores() {
  static const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

}  // namespace inflight::machine
