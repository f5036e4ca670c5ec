// A context's events pass through a stream of their own, which joins those of the context.
#include "gpu/cuda/core/calls/context_events.hpp"

#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/queue/awaited.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/queue/edges.hpp"

namespace inflight::cuda {
namespace {

std::shared_ptr<Event> hidden_event(Device& device) {
  return std::make_shared<Event>(device, false, false);
}

// An internal stream, which has no handle for programs.
std::shared_ptr<Stream> passing_stream(Device& device) {
  const ScopedContext none(&Core::get().primary(device.ordinal));
  auto made = device.create_stream(true, 0);
  observe_edge(check::StreamEdge::Kind::created, *made, 0);
  return {made.get(),
          [made](Stream* stream) { observe_edge(check::StreamEdge::Kind::destroyed, *stream, 0); }};
}

// All streams of the context. Fails if one of them captures.
Result<std::vector<std::shared_ptr<Stream>>> free_streams(const Context& context) {
  auto streams = streams_of(context);
  for (const auto& each : streams)
    if (Status status = waitable(*each); status != Status::success) return fail(status);
  return streams;
}

}  // namespace

Status create_green_stream(void** place, GreenContext& in, unsigned flags, int priority) {
  constexpr unsigned non_blocking = 1;
  if (flags != non_blocking) return Status::invalid_value;
  const ScopedContext scope(in.context.get());
  return create_stream(place, flags, priority);
}

Status record_event(const Context& context, const void* handle) {
  auto event = event_of(handle);
  if (!event) return event.error().status;
  if (&(*event)->device() != context.device) return Status::invalid_handle;
  auto streams = free_streams(context);
  if (!streams) return streams.error().status;
  const auto all = passing_stream(*context.device);
  for (const auto& each : *streams) {
    if (each->last().number == 0) continue;
    const auto done = hidden_event(*context.device);
    if (Status status = record_event(*each, done, 0); status != Status::success) return status;
    if (Status status = wait_event(*all, done, 0); status != Status::success) return status;
  }
  return record_event(*all, *event, 0);
}

Status wait_event(Context& context, const void* handle) {
  auto event = event_of(handle);
  if (!event) return event.error().status;
  if (Status status = waitable(**event); status != Status::success) return status;
  auto streams = free_streams(context);
  if (!streams) return streams.error().status;
  const auto later = passing_stream(*context.device);
  const auto done = hidden_event(*context.device);
  streams->push_back(later);
  const auto before = awaited_events(context);
  for (const auto& each : before)
    if (Status status = wait_event(*later, each, 0); status != Status::success) return status;
  for (const auto& each : *streams)
    if (Status status = wait_event(*each, *event, 0); status != Status::success) return status;
  if (Status status = record_event(*later, done, 0); status != Status::success) return status;
  replace_awaited(context, before, done);
  return Status::success;
}

}  // namespace inflight::cuda
