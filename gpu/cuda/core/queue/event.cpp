// Events: recordings in streams, and the time between two events.
#include "gpu/cuda/core/queue/event.hpp"

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/queue/edges.hpp"
#include "gpu/cuda/core/report/observer.hpp"

namespace inflight::cuda {

bool Recording::done() const {
  if (elsewhere) return elsewhere->done(number);
  if (ticket.done()) return true;
  const std::shared_ptr<const Stream> in = stream.lock();
  return in && in->settle(ticket.number);
}

void Recording::wait(const std::atomic<bool>& cancel) const {
  constexpr std::chrono::milliseconds poll_interval{50};
  if (!elsewhere) return ticket.wait();
  const watch::Waiting nothing_held;
  while (!cancel && !elsewhere->wait(number, poll_interval)) {
  }
}

Ticket Event::record(Stream& stream) {
  auto recording = std::make_shared<Recording>();
  if (shared) recording->number = shared->begin();
  recording->stream = stream.weak_from_this();
  recording->ticket = stream.mark([recording, shared = shared] {
    recording->reached = std::chrono::steady_clock::now();
    if (shared) shared->finish(recording->number);
  });
  const Ticket ticket = recording->ticket;
  std::lock_guard lock(mutex_);
  latest_ = std::move(recording);
  return ticket;
}

void Event::record(std::shared_ptr<Recording> recording) {
  std::lock_guard lock(mutex_);
  latest_ = std::move(recording);
}

void Event::mark() {
  auto recording = std::make_shared<Recording>();
  recording->reached = std::chrono::steady_clock::now();
  if (shared) shared->finish(recording->number = shared->begin());
  std::lock_guard lock(mutex_);
  latest_ = std::move(recording);
}

std::shared_ptr<const Recording> Event::latest() const {
  std::lock_guard lock(mutex_);
  const std::uint64_t last = shared ? shared->last() : 0;
  if (last == 0 || (latest_ && latest_->number == last)) return latest_;
  auto foreign = std::make_shared<Recording>();
  foreign->number = last;
  foreign->elsewhere = shared;
  return foreign;
}

bool Event::done() const {
  auto recording = latest();
  return !recording || recording->done();
}

void Event::synchronize() const {
  if (auto recording = latest()) recording->wait(device_.cancel);
}

void wait_for_latest(Stream& stream, const Event& event) {
  auto recording = event.latest();
  if (!recording) return;
  // Listeners are also notified of recordings that are already done.
  if (!observes(check::Topic::host) && recording->done()) return;
  const std::atomic<bool>& cancel = stream.device().cancel;
  const Ticket ticket = recording->elsewhere
                            ? stream.submit([recording, &cancel] { recording->wait(cancel); })
                            : stream.mark([] {}, {recording->ticket});
  observe_edge(check::StreamEdge::Kind::event_wait, stream, ticket.number, address_of(&event));
}

Result<float> elapsed(const Event& start, const Event& end) {
  auto from = start.latest(), to = end.latest();
  if (!from || !to || !start.timing || !end.timing) return fail(Status::invalid_handle);
  watch::queried();
  if (!from->done() || !to->done()) return fail(Status::not_ready);
  return std::chrono::duration<float, std::milli>(to->reached.load() - from->reached.load())
      .count();
}

}  // namespace inflight::cuda
