// oneTBB's threads help. Between launches that follow each other closely they look for the next one
// before they sleep: to wake one takes as long as a small launch.
#include "gpu/machine/run/helpers.hpp"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/host/cores.hpp"
#include "gpu/machine/run/workers.hpp"

namespace inflight::machine {
namespace {

using Time = std::chrono::steady_clock;

// So long somebody looks for what is about to happen before it sleeps.
constexpr std::chrono::microseconds soon_enough{50};

void rest_a_moment() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Looks until `happened` or the end of that time. Its core goes to others that can use it.
template <class Happened>
bool look_for(Happened happened) {
  constexpr int moments = 32;
  for (const auto end = Time::now() + soon_enough; Time::now() < end; std::this_thread::yield())
    for (int i = 0; i < moments; ++i, rest_a_moment())
      if (happened()) return true;
  return happened();
}

// The mutex is held for moments, and all helpers of a launch want it at once: to sleep would take
// longer.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  constexpr int moments = 200;
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int i = 0; i < moments && !lock.owns_lock(); ++i, rest_a_moment()) (void)lock.try_lock();
  if (!lock.owns_lock()) lock.lock();
  return lock;
}

}  // namespace

// All launches share it, so that none pays for waking threads that are awake.
class Helpers::Pool {
 public:
  static Pool& get() {
    static auto& shared = *new Pool;
    return shared;
  }

  void open(Helpers& launch, unsigned count) {
    const auto lock = lock_soon(mutex_);
    pause_ = Time::now() - closed_;
    unsigned asked = 0;
    for (std::size_t i = 1; i < places_.size() && asked < count; ++i)
      asked += places_[i].ask(launch);
    launch.wanted_ = count - asked;
    if (launch.wanted_ == 0) return;
    launches_.push_back(&launch);
    wanted_ += launch.wanted_;
    // A task carries nothing and is made under the mutex that it takes first, so that
    // ThreadSanitizer, to which oneTBB's library is opaque, sees who made it before who runs it.
    for (; coming_ < wanted_; ++coming_) arena_.enqueue([] { get().serve(); });
  }

  // Nobody comes any more; waits for those who are there.
  void close(Helpers& launch) {
    auto lock = lock_soon(mutex_);
    if (launch.wanted_ != 0) {
      wanted_ -= std::exchange(launch.wanted_, 0);
      std::erase(launches_, &launch);
    }
    for (Place& place : places_) place.take_back(launch);
    const auto alone = [&] {
      return (launch.present_.load(std::memory_order_acquire) & ~asleep) == 0;
    };
    if (!alone()) {
      lock.unlock();
      const bool soon = look_for(alone);
      lock = lock_soon(mutex_);
      if (!soon) {
        launch.present_.fetch_or(asleep, std::memory_order_relaxed);
        left_.wait(lock, alone);
      }
    }
    closed_ = Time::now();
  }

 private:
  static constexpr unsigned asleep = 1u << 31;  // in Helpers::present_: its launch's thread is

  // Where a thread that looks for a launch is asked to help: each on lines of its own, since a
  // mutex that all of them want at once would take longer than a small launch.
  struct alignas(128) Place {
    std::atomic<Helpers*> asked{nullptr};  // null: nobody looks
    bool taken = false;

    static Helpers* looking() {
      static char mark;
      return reinterpret_cast<Helpers*>(&mark);
    }
    bool ask(Helpers& launch) {
      Helpers* seen = asked.load(std::memory_order_relaxed);
      if (seen != looking()) return false;
      launch.present_.fetch_add(1, std::memory_order_relaxed);
      if (asked.compare_exchange_strong(seen, &launch, std::memory_order_release)) return true;
      launch.present_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    // From one who has not begun.
    void take_back(Helpers& launch) {
      Helpers* seen = asked.load(std::memory_order_relaxed);
      if (seen == &launch && asked.compare_exchange_strong(seen, looking()))
        launch.present_.fetch_sub(1, std::memory_order_relaxed);
    }
    // The launch that it is to help with; null: none came.
    Helpers* look() {
      asked.store(looking(), std::memory_order_release);
      look_for([this] { return asked.load(std::memory_order_relaxed) != looking(); });
      Helpers* const seen = asked.exchange(nullptr, std::memory_order_acquire);
      return seen == looking() ? nullptr : seen;
    }
  };

  // A thread of oneTBB's, for as long as there are launches.
  void serve() {
    auto lock = lock_soon(mutex_);
    --coming_;
    const auto free =
        std::find_if(places_.begin() + 1, places_.end() - 1, [](Place& p) { return !p.taken; });
    const auto place = static_cast<unsigned>(free - places_.begin());
    free->taken = true;
    while (Helpers* launch = next()) {
      const bool look_on = pause_ <= soon_enough;
      lock.unlock();
      do {
        help(*launch, place);
      } while (look_on && (launch = free->look()));
      lock = lock_soon(mutex_);
    }
    free->taken = false;
  }

  // One that wants helpers.
  Helpers* next() {
    if (launches_.empty()) return nullptr;
    Helpers* const launch = launches_.front();
    launch->present_.fetch_add(1, std::memory_order_relaxed);
    --wanted_;
    if (--launch->wanted_ == 0) launches_.pop_front();
    return launch;
  }

  // Afterwards the launch may be gone.
  void help(Helpers& launch, unsigned place) {
    try {
      launch.work_(place);
    } catch (...) {
      const auto lock = lock_soon(mutex_);
      launch.thrown_ = std::current_exception();
    }
    if (launch.present_.fetch_sub(1, std::memory_order_acq_rel) != (asleep | 1)) return;
    const auto lock = lock_soon(mutex_);
    left_.notify_all();
  }

  // On one core oneTBB has no threads besides the caller's unless it is told.
  std::optional<tbb::global_control> limit_ =
      host::cores() < most_workers()
          ? std::make_optional<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                    most_workers())
          : std::nullopt;
  tbb::task_arena arena_{static_cast<int>(most_workers()), 1};
  std::mutex mutex_;
  std::condition_variable left_;
  std::deque<Helpers*> launches_;     // those that want more helpers, the oldest first
  unsigned wanted_ = 0, coming_ = 0;  // helpers, by all of them; tasks that have not begun
  std::vector<Place> places_ =
      std::vector<Place>(most_workers() + 1);  // the first is the launching threads'
  Time::time_point closed_;                    // when a launch ended last
  Time::duration pause_{};                     // from there to the one behind it
};

Helpers::Helpers(Work work, unsigned count) : work_(std::move(work)) {
  try {
    Pool::get().open(*this, count);
  } catch (const std::bad_alloc&) {  // fewer help
  }
}

std::exception_ptr Helpers::dismiss() {
  if (!std::exchange(dismissed_, true)) Pool::get().close(*this);
  return std::exchange(thrown_, nullptr);
}

void Helpers::finish() {
  if (auto thrown = dismiss()) std::rethrow_exception(thrown);
}

}  // namespace inflight::machine
