// Holds work back until the program waits or queries, or a moment has passed.
#include "gpu/cuda/core/watch/holding.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>

#include "gpu/cuda/core/watch/watch.hpp"

namespace inflight::cuda::watch {
namespace {

using std::chrono::microseconds;

// A program that neither waits nor queries may poll memory that a kernel writes. So each hold that
// times out shortens the next one, and each wait lengthens it again.
constexpr microseconds longest{50'000}, shortest{500};

// On a busy machine, the submitting thread may get no processor during the moment, or wait for a
// thread that gets none. Then the hold lasts until the thread has run for 1/`share` of a moment, or
// until it has been asleep at so many looks in a row, one each 1/`share` of a moment.
constexpr int share = 10, looks = 5;

std::optional<std::chrono::nanoseconds> processor_time(clockid_t clock) {
  timespec now;
  if (clock_gettime(clock, &now) != 0) return std::nullopt;
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// True if the thread waits for something other than a processor or a page.
bool is_asleep(int thread) {
  char path[64], text[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return true;
  text[length] = 0;
  const char* const state = std::strrchr(text, ')');  // the name may contain ')' too
  return !state || (std::strncmp(state, ") R", 3) != 0 && std::strncmp(state, ") D", 3) != 0);
}

bool has_run(const Stamp& stamp, microseconds time) {
  const auto had = processor_time(stamp.clock);
  return !had || *had - stamp.had >= time;
}

struct Holding {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t submitted = 0, released_up_to = 0;  // stamp numbers
  unsigned waiting = 0;
  microseconds moment = longest;

  bool is_released(const Stamp& stamp) const {
    return waiting != 0 || stamp.number <= released_up_to;
  }
};
Holding& holding() {
  static Holding& one = *new Holding;
  return one;
}

}  // namespace

Stamp stamp_now() {
  if (!active()) return {};
  Holding& h = holding();
  Stamp stamp;
  stamp.thread = gettid();
  pthread_getcpuclockid(pthread_self(), &stamp.clock);
  stamp.had = processor_time(stamp.clock).value_or(std::chrono::nanoseconds::zero());
  const std::lock_guard lock(h.mutex);
  stamp.number = ++h.submitted;
  stamp.time = std::chrono::steady_clock::now();
  return stamp;
}

bool holds(const Stamp& stamp) {
  if (stamp.number == 0) return false;
  Holding& h = holding();
  const std::lock_guard lock(h.mutex);
  return !h.is_released(stamp);
}

void wait_for(const Stamp& stamp) {
  Holding& h = holding();
  std::unique_lock lock(h.mutex);
  const microseconds moment = h.moment;
  const auto is_released = [&] { return h.is_released(stamp); };
  bool released = h.changed.wait_until(lock, stamp.time + moment, is_released);
  for (int asleep = 0; !released && !has_run(stamp, moment / share);) {
    asleep = is_asleep(stamp.thread) ? asleep + 1 : 0;
    if (asleep == looks) break;
    released = h.changed.wait_for(lock, moment / share, is_released);
  }
  if (!released) h.moment = std::max(shortest, std::min(h.moment, moment / 2));
}

void queried() {
  if (!active()) return;
  Holding& h = holding();
  {
    const std::lock_guard lock(h.mutex);
    h.released_up_to = h.submitted;
  }
  h.changed.notify_all();
}

Waiting::Waiting(bool really, std::uint64_t up_to)
    : counted_(really && active()), for_all_(up_to == all) {
  if (!counted_) return;
  Holding& h = holding();
  {
    const std::lock_guard lock(h.mutex);
    h.waiting += for_all_;
    h.released_up_to = std::max(h.released_up_to, std::min(up_to, h.submitted));
    h.moment = std::min(longest, h.moment * 2);
  }
  h.changed.notify_all();
  begin_wait();
}

Waiting::~Waiting() {
  if (!counted_) return;
  end_wait();
  Holding& h = holding();
  const std::lock_guard lock(h.mutex);
  h.waiting -= for_all_;
}

}  // namespace inflight::cuda::watch
