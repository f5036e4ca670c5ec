// Work is held back until the program waits, asks, or a moment has passed.
#include "gpu/cuda/core/watch/holding.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "gpu/cuda/core/watch/watch.hpp"

namespace inflight::cuda::watch {
namespace {

using std::chrono::microseconds;

// A program that neither waits nor asks may poll what a kernel writes: each moment that passes in
// vain makes the next one shorter, each wait makes it longer again.
constexpr microseconds longest{50'000}, shortest{500};

struct Holding {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t submitted = 0, let_go = 0;  // numbers of stamps
  unsigned waiting = 0;
  microseconds moment = longest;

  bool held(const Stamp& stamp) const {
    return waiting == 0 && stamp.number > let_go &&
           std::chrono::steady_clock::now() < stamp.time + moment;
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
  const std::lock_guard lock(h.mutex);
  return {++h.submitted, std::chrono::steady_clock::now()};
}

bool holds(const Stamp& stamp) {
  if (stamp.number == 0) return false;
  Holding& h = holding();
  const std::lock_guard lock(h.mutex);
  return h.held(stamp);
}

void wait_for(const Stamp& stamp) {
  Holding& h = holding();
  std::unique_lock lock(h.mutex);
  const microseconds moment = h.moment;
  const bool released = h.changed.wait_until(
      lock, stamp.time + moment, [&] { return h.waiting != 0 || stamp.number <= h.let_go; });
  if (!released) h.moment = std::max(shortest, std::min(h.moment, moment / 2));
}

void asked() {
  if (!active()) return;
  Holding& h = holding();
  {
    const std::lock_guard lock(h.mutex);
    h.let_go = h.submitted;
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
    h.let_go = std::max(h.let_go, std::min(up_to, h.submitted));
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
