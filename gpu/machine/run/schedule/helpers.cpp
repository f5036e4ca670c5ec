// Threads of oneTBB help. Between launches that follow each other closely they poll for the next
// one before they sleep, because waking a thread takes as long as a small launch.
#include "gpu/machine/run/schedule/helpers.hpp"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
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
#include "gpu/machine/run/schedule/workers.hpp"

namespace inflight::machine {
namespace {

using Time = std::chrono::steady_clock;

// How long a thread polls before it sleeps.
constexpr std::chrono::microseconds spin_time{50};

void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Polls until `happened` or the time is over. Yields its core in between, but not at first: a
// launch may wait for the thread.
template <class Happened>
bool spin_until(Happened happened) {
  constexpr int moments = 32;
  constexpr std::chrono::microseconds short_time{4};
  if (happened()) return true;
  const auto begin = Time::now();
  for (auto now = begin; now < begin + spin_time; now = Time::now()) {
    if (now > begin + short_time) std::this_thread::yield();
    for (int i = 0; i < moments; ++i, pause_core())
      if (happened()) return true;
  }
  return happened();
}

}  // namespace

// Shared by all launches, so that none has to wake threads that are awake.
//
// A launch calls awake helpers by one store to a word that all of them poll, and ends the call by
// another. A helper that answers stores that at its place before it checks that the call is still
// open. The launch ends the call before it reads the places. Both are sequentially consistent, so
// at least one of them sees the other. Missing helpers are fetched from oneTBB, as are all helpers
// of a launch that begins during another one's call.
//
// The call of the next launch can be prepared while a call is open. The thread that runs the last
// block then opens it in place of ending the present one, so helpers wait for no launching thread.
class Helpers::Pool {
 public:
  static Pool& get() {
    static auto& shared = *new Pool;
    return shared;
  }

  void open(Helpers& launch) {
    const bool calls = call(launch);
    if (!calls) crowded_.store(true, std::memory_order_relaxed);
    fetch(launch, calls);
  }

  // False: the previous one has no call, or launches of other streams want it too.
  bool prepare(Helpers& launch, const Helpers& front) {
    if (front.call_ == 0 || crowded_.exchange(false, std::memory_order_relaxed)) return false;
    keeps_spinning_.store(true, std::memory_order_relaxed);
    launch.call_ = front.call_ + 2;
    caller(launch.call_) = &launch;
    return true;
  }
  void open_prepared(const Helpers& launch) { call_.store(launch.call_); }

  // Requests the helpers that will not answer the launch's call, if it `calls`.
  void fetch(Helpers& launch, bool calls) {
    const unsigned count = launch.count_;
    if (calls && awake(count) == count) return;
    const std::lock_guard lock(mutex_);
    // While this holds the mutex, no helper falls asleep.
    const unsigned missing = calls ? count - awake(count) : count;
    if (missing == 0) return;
    launch.fetched_ = true;
    launch.wanted_ = missing;
    launches_.push_back(&launch);
    ++requests_;
    wanted_ += missing;
    // The task captures nothing and is created under the mutex that it takes first. So
    // ThreadSanitizer, which cannot see into oneTBB, knows that it was created before it runs.
    for (; coming_ < wanted_; ++coming_) arena_.enqueue([] { get().serve(); });
  }

  // Stops further helpers from joining and waits for those at work.
  void close(Helpers& launch) {
    if (launch.fetched_) {
      const std::lock_guard lock(mutex_);
      wanted_ -= std::exchange(launch.wanted_, 0);
      std::erase(launches_, &launch);
    }
    const auto wait_alone = [&] {
      wait([&] { return launch.present_.load() == 0 && !answered(launch.call_); });
    };
    if (Helpers* const next = launch.next_) {
      wait_alone();
      if (call_.load() == next->call_) return;  // the call is the next launch's now
      next->call_ = 0;
    }
    if (launch.call_ != 0) call_.store(launch.call_ + 1);
    wait_alone();
    if (launch.call_ == 0) return;
    closed_ = Time::now();
    calling_.store(false, std::memory_order_release);
  }

 private:
  // A oneTBB thread while it serves launches.
  struct Server {
    unsigned place;
    std::uint64_t seen = 0;      // the last call that it has answered
    std::uint64_t requests = 0;  // value of `requests_` when it last searched `launches_`
  };
  struct alignas(128) Place {
    std::atomic<std::uint64_t> answered{0};  // the call that its thread is about to work for, or 0
  };

  static bool stands(std::uint64_t call) { return (call & 1) != 0; }
  Helpers*& caller(std::uint64_t call) { return callers_[call >> 1 & 1]; }

  template <class Happened>
  void wait(Happened happened) {
    if (spin_until(happened)) return;
    std::unique_lock lock(mutex_);
    ++sleepers_;
    left_.wait(lock, happened);
    --sleepers_;
  }

  // Calls the awake helpers. False: another launch's call is open.
  bool call(Helpers& launch) {
    if (calling_.exchange(true, std::memory_order_acquire)) return false;
    keeps_spinning_.store(Time::now() - closed_ <= spin_time, std::memory_order_relaxed);
    launch.call_ = call_.load(std::memory_order_relaxed) + 1;
    caller(launch.call_) = &launch;
    call_.store(launch.call_);
    return true;
  }

  // How many of the first `count` helpers will answer the call.
  unsigned awake(unsigned count) const {
    return static_cast<unsigned>(std::count_if(spinning_.begin() + 1, spinning_.begin() + 1 + count,
                                               [](const auto& each) { return each.load(); }));
  }

  // Reads all places, so that the cache lines come at once and not one after the other.
  bool answered(std::uint64_t call) const {
    if (call == 0) return false;
    bool any = false;
    for (const Place& each : places_) any |= each.answered.load() == call;
    return any;
  }

  // Runs until there are no launches to serve.
  void serve() {
    Server self = begin();
    do {
      while (Helpers* const launch = next(self)) {
        help(*launch, self.place);
        leave(*launch);
      }
      while (answer(self) || (keeps_spinning_.load(std::memory_order_relaxed) && spin(self)))
        if (requested(self)) break;
    } while (!end(self));
  }

  Server begin() {
    const std::lock_guard lock(mutex_);
    --coming_;
    const auto free = std::find(taken_.begin() + 1, taken_.end() - 1, false);
    *free = true;
    return {static_cast<unsigned>(free - taken_.begin())};
  }

  // False: there is more to do.
  bool end(const Server& self) {
    const std::lock_guard lock(mutex_);
    if (requested(self) || !stop_spinning(self)) return false;
    taken_[self.place] = false;
    return true;
  }

  // Needs the mutex. From now on no call counts on the thread. False: an open call may already do
  // so.
  bool stop_spinning(const Server& self) {
    std::atomic<bool>& spinning = spinning_[self.place];
    if (!spinning.load(std::memory_order_relaxed)) return true;
    spinning.store(false);
    if (!called(self)) return true;
    spinning.store(true);
    return false;
  }

  bool called(const Server& self) const {
    const std::uint64_t call = call_.load();
    return stands(call) && call != self.seen;
  }
  bool requested(const Server& self) const { return requests_.load() != self.requests; }

  // Polls for a call, or for a launch that wants helpers fetched.
  bool spin(const Server& self) const {
    return spin_until([&] { return called(self) || requested(self); });
  }

  // Works for the open call, unless it has done so already.
  bool answer(Server& self) {
    const std::uint64_t call = call_.load();
    if (!stands(call) || call == self.seen) return false;
    self.seen = call;
    std::atomic<std::uint64_t>& answered = places_[self.place].answered;
    answered.store(call);
    if (call_.load() == call) {
      Helpers& launch = *caller(call);
      if (self.place <= launch.count_) help(launch, self.place);
    }
    answered.store(0);
    wake_sleepers();
    return true;
  }

  // A launch that wants helpers fetched. Null: from now on calls count on this thread.
  Helpers* next(Server& self) {
    const std::lock_guard lock(mutex_);
    if (!stop_spinning(self)) return nullptr;
    self.requests = requests_.load(std::memory_order_relaxed);
    const auto found = std::find_if(launches_.begin(), launches_.end(), [&](const Helpers* each) {
      return each->call_ == 0 || each->call_ != self.seen;
    });
    if (found == launches_.end()) {
      spinning_[self.place].store(true);
      return nullptr;
    }
    Helpers* const launch = *found;
    if (launch->call_ != 0) self.seen = launch->call_;
    launch->present_.fetch_add(1, std::memory_order_relaxed);
    --wanted_;
    if (--launch->wanted_ == 0) launches_.erase(found);
    return launch;
  }

  void help(Helpers& launch, unsigned place) {
    try {
      launch.work_(place);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      launch.thrown_ = std::current_exception();
    }
  }

  // The launch may be destroyed after this.
  void leave(Helpers& launch) {
    launch.present_.fetch_sub(1);
    wake_sleepers();
  }

  void wake_sleepers() {
    if (sleepers_.load() == 0) return;
    const std::lock_guard lock(mutex_);
    left_.notify_all();
  }

  // On one core oneTBB has only the caller's thread unless configured otherwise.
  std::optional<tbb::global_control> limit_ =
      host::cores() < most_workers()
          ? std::make_optional<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                    most_workers())
          : std::nullopt;
  tbb::task_arena arena_{static_cast<int>(most_workers()), 1};

  // What helpers poll: cache lines that are written once per call.
  alignas(128) std::atomic<std::uint64_t> call_{0};  // odd: a call is open
  std::array<Helpers*, 2> callers_{};                // of the open call and of the prepared one
  std::atomic<bool> keeps_spinning_{false};          // launches follow each other closely
  std::atomic<std::uint64_t> requests_{0};           // how many launches wanted helpers fetched
  std::atomic<unsigned> sleepers_{0};                // launching threads asleep in wait()

  // By place. Place 0 is for launching threads.
  std::vector<Place> places_ = std::vector<Place>(most_workers() + 1);
  // By place: will its helper answer the next call? Reset only under the mutex.
  std::vector<std::atomic<bool>> spinning_ = std::vector<std::atomic<bool>>(most_workers() + 1);
  // True while a launch owns the call. Guards `closed_`.
  alignas(128) std::atomic<bool> calling_{false};
  std::atomic<bool> crowded_{false};  // a launch found it owned
  Time::time_point closed_;           // when the last call ended

  alignas(128) std::mutex mutex_;
  std::condition_variable left_;
  std::deque<Helpers*> launches_;     // those that want helpers fetched, the oldest first
  unsigned wanted_ = 0, coming_ = 0;  // helpers wanted by all launches; tasks not begun
  std::vector<bool> taken_ = std::vector<bool>(most_workers() + 1);  // by place
};

// There are no more places than most_workers().
Helpers::Helpers(Work work, unsigned count)
    : work_(std::move(work)), count_(std::min(count, most_workers())) {
  resume();
}

Helpers::Helpers(Work work, unsigned count, Helpers& front)
    : work_(std::move(work)), count_(std::min(count, most_workers())) {
  if (Pool::get().prepare(*this, front)) front.next_ = this;
}

void Helpers::open_next() {
  if (next_) Pool::get().open_prepared(*next_);
}

void Helpers::resume() {
  try {
    if (opened())
      Pool::get().fetch(*this, true);
    else
      Pool::get().open(*this);
  } catch (const std::bad_alloc&) {  // fewer helpers
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
