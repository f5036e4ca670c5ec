// Events: recordings in streams, and the time between two.
#include "gpu/cuda/core/stream/event.hpp"

namespace inflight::cuda {

Ticket Event::record(Stream& stream) {
  auto recording = std::make_shared<Recording>();
  recording->ticket =
      stream.submit([recording] { recording->reached = std::chrono::steady_clock::now(); });
  const Ticket ticket = recording->ticket;
  std::lock_guard lock(mutex_);
  latest_ = std::move(recording);
  return ticket;
}

void Event::mark() {
  auto recording = std::make_shared<Recording>();
  recording->reached = std::chrono::steady_clock::now();
  std::lock_guard lock(mutex_);
  latest_ = std::move(recording);
}

std::shared_ptr<const Recording> Event::latest() const {
  std::lock_guard lock(mutex_);
  return latest_;
}

bool Event::done() const {
  auto recording = latest();
  return !recording || recording->ticket.done();
}

void Event::synchronize() const {
  if (auto recording = latest()) recording->ticket.wait();
}

Result<float> elapsed(const Event& start, const Event& end) {
  auto from = start.latest(), to = end.latest();
  if (!from || !to || !start.timing || !end.timing) return fail(Status::invalid_handle);
  if (!from->ticket.done() || !to->ticket.done()) return fail(Status::not_ready);
  return std::chrono::duration<float, std::milli>(to->reached.load() - from->reached.load())
      .count();
}

}  // namespace inflight::cuda
