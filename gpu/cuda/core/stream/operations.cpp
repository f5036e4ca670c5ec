// What both APIs do with streams and events.
#include "gpu/cuda/core/stream/operations.hpp"

#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/report/observer.hpp"

namespace inflight::cuda {

Status destroy_stream(const void* handle) {
  auto stream = Core::get().streams.remove(handle);
  if (!stream) return Status::invalid_handle;
  leave_capture(*stream);
  observe_edge(check::StreamEdge::Kind::destroyed, *stream);
  return Status::success;
}

Status wait_for(Stream& stream) {
  if (Status status = waitable(stream); status != Status::success) return status;
  {
    const PrintfFifo::Waiting waiting(stream.device().printed);
    stream.synchronize();
    release_idle_pools();
    observe_edge(check::StreamEdge::Kind::stream_sync, stream);
  }
  return stream.device().fault();
}

Status ask(Stream& stream) {
  if (Status status = waitable(stream); status != Status::success) return status;
  return stream.idle() ? stream.device().fault() : Status::not_ready;
}

Status record_event(Stream& stream, const std::shared_ptr<Event>& event, unsigned flags) {
  if (flags & ~external_event) return Status::invalid_value;
  if (&event->device() != &stream.device()) return Status::invalid_handle;
  if (capturing(stream))
    return flags & external_event ? submit(stream, RecordWork{event})
                                  : capture_record(stream, *event);
  if (Status status = allowed_now(stream); status != Status::success) return status;
  event->capture = nullptr;
  event->record(stream);
  observe_edge(check::StreamEdge::Kind::event_record, stream,
               reinterpret_cast<std::uint64_t>(event.get()));
  return Status::success;
}

Status wait_event(Stream& stream, const std::shared_ptr<Event>& event, unsigned flags) {
  if (flags & ~external_event) return Status::invalid_value;
  if (capturing(stream) && (flags & external_event)) return submit(stream, WaitWork{event});
  if (capturing(stream) || captured_now(*event)) return capture_wait(stream, *event);
  if (Status status = allowed_now(stream); status != Status::success) return status;
  observe_edge(check::StreamEdge::Kind::event_wait, stream,
               reinterpret_cast<std::uint64_t>(event.get()));
  auto recording = event->latest();
  if (recording && !recording->ticket.done()) stream.submit([] {}, {recording->ticket});
  return Status::success;
}

Status wait_for(const Event& event) {
  if (Status status = waitable(event); status != Status::success) return status;
  {
    const PrintfFifo::Waiting waiting(event.device().printed);
    event.synchronize();
    release_idle_pools();
  }
  return event.device().fault();
}

Status ask(const Event& event) {
  if (Status status = waitable(event); status != Status::success) return status;
  return event.done() ? event.device().fault() : Status::not_ready;
}

Status add_callback(Stream& stream, void* handle, StreamCallback callback, void* data) {
  if (!callback) return Status::invalid_value;
  if (capturing(stream)) return Status::capture_unsupported;
  if (Status status = allowed_now(stream); status != Status::success) return status;
  stream.submit([&device = stream.device(), handle, callback, data] {
    device.printed.flush();
    callback(handle, int(device.fault()), data);
  });
  return Status::success;
}

}  // namespace inflight::cuda
