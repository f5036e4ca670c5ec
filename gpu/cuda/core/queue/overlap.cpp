// Overlapping kernels: which thread waits, and for how long the previous kernel pauses.
#include "gpu/cuda/core/queue/overlap.hpp"

#include "gpu/async/order.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/host/awake_time.hpp"

namespace inflight::cuda {
namespace {

constexpr std::chrono::milliseconds moment{1}, settle_timeout{1000};

thread_local Standing standing;

}  // namespace

void InFront::rest(unsigned workers) {
  {
    const std::lock_guard lock(mutex_);
    if (++resting_ >= workers) settled_ = true;
  }
  changed_.notify_all();
  ticket_.wait_until(std::chrono::steady_clock::now() + moment);
  const std::lock_guard lock(mutex_);
  --resting_;
}

void InFront::ended() {
  {
    const std::lock_guard lock(mutex_);
    settled_ = true;
  }
  changed_.notify_all();
}

void InFront::wait_settled() {
  std::unique_lock lock(mutex_);
  host::wait_awake(settle_timeout, [&](auto deadline) {
    return changed_.wait_until(lock, deadline, [&] { return settled_; });
  });
}

const Standing& Standing::now() { return standing; }

void Standing::within(const std::function<void()>& body) const {
  struct Restore {
    Standing outer;
    ~Restore() { standing = outer; }
  } const restore{std::exchange(standing, *this)};
  body();
}

bool begins_early(std::uint64_t number) { return async::takes_earlier(settings().timing, number); }

Early begin_early(const Ticket& ticket, std::function<void(InFront&)> body) {
  const auto in_front = std::make_shared<InFront>(ticket);
  std::thread thread([in_front, body = std::move(body)] {
    body(*in_front);
    in_front->ended();
  });
  return {in_front, std::move(thread)};
}

}  // namespace inflight::cuda
