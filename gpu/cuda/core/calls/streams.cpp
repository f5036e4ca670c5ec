// Operations on streams and events.
#include "gpu/cuda/core/calls/streams.hpp"

#include <algorithm>
#include <bit>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/queue/edges.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/watch/watch.hpp"

namespace inflight::cuda {
namespace {

constexpr unsigned non_blocking_stream = 1;
constexpr unsigned blocking_sync = 1, disable_timing = 2, interprocess = 4, event_flags = 7;

bool is_stream_attribute(int id) {
  return id == abi::launch_access_policy || id == abi::launch_synchronization_policy ||
         id == abi::launch_priority || id == abi::launch_memory_domain_map ||
         id == abi::launch_memory_domain;
}

}  // namespace

Status create_stream(void** place, unsigned flags, int priority) {
  if (!place || (flags & ~non_blocking_stream)) return Status::invalid_value;
  auto stream = current_device().create_stream(
      flags & non_blocking_stream, std::clamp(priority, highest_priority, lowest_priority));
  observe_edge(check::StreamEdge::Kind::created, *stream, 0);
  *place = Core::get().streams.add(std::move(stream));
  return Status::success;
}

Status destroy_stream(const void* handle) {
  auto stream = Core::get().streams.find(handle);
  if (!stream) return Status::invalid_handle;
  if (stream->context && stream->context->destroyed) return Status::context_is_destroyed;
  Core::get().streams.remove(handle);
  leave_capture(*stream);
  observe_edge(check::StreamEdge::Kind::destroyed, *stream, 0);
  return Status::success;
}

Status synchronize(Stream& stream) {
  if (Status status = waitable(stream); status != Status::success) return status;
  {
    const PrintfFifo::Waiting waiting(stream.device().printed);
    stream.synchronize();
    release_idle_pools();
  }
  return stream.device().fault();
}

Status query(Stream& stream) {
  if (Status status = waitable(stream); status != Status::success) return status;
  watch::queried();
  const Ticket last = stream.last();
  if (!stream.settle(last.number)) return Status::not_ready;
  observe_edge(check::StreamEdge::Kind::stream_sync, stream, last.number);
  return stream.device().fault();
}

Status set_attribute(Stream& stream, int id, const StreamAttribute* value) {
  if (!value || !is_stream_attribute(id)) return Status::invalid_value;
  stream.set_attribute(id, std::bit_cast<Stream::AttributeValue>(*value));
  return Status::success;
}

Status get_attribute(const Stream& stream, int id, StreamAttribute* value) {
  if (!value || !is_stream_attribute(id)) return Status::invalid_value;
  auto kept = stream.attribute(id);
  *value = kept ? std::bit_cast<StreamAttribute>(*kept) : StreamAttribute{};
  if (!kept && id == abi::launch_priority) value->integer = stream.priority();
  return Status::success;
}

void copy_attributes(Stream& to, const Stream& from) {
  for (int id = 0; id <= abi::launch_nvlink; ++id)
    if (auto kept = from.attribute(id)) to.set_attribute(id, *kept);
}

Status create_event(void** place, unsigned flags) {
  if (!place || flags > event_flags) return Status::invalid_value;
  if ((flags & interprocess) && !(flags & disable_timing)) return Status::invalid_value;
  std::shared_ptr<SharedEvent> shared;
  if (flags & interprocess) {
    auto made = SharedEvent::create();
    if (!made) return made.error().status;
    shared = std::move(*made);
  }
  *place = Core::get().events.add(std::make_shared<Event>(
      current_device(), !(flags & disable_timing), flags & blocking_sync, std::move(shared)));
  return Status::success;
}

Status export_event(SharingHandle* to, const void* handle) {
  auto event = event_of(handle);
  if (!event) return event.error().status;
  if (!to) return Status::invalid_value;
  if (!(*event)->shared || (*event)->imported) return Status::invalid_handle;
  if ((*event)->shared->file() < 0) return lost_descriptor();
  auto made = sharing_handle(SharingHandle::Kind::event, (*event)->shared->file(),
                             (*event)->device().index);
  if (!made) return made.error().status;
  *to = *made;
  return Status::success;
}

Status import_event(void** place, const SharingHandle& handle) {
  if (!place) return Status::invalid_value;
  auto shared = SharedEvent::open(handle);
  if (!shared) return report(shared);
  *place = Core::get().events.add(
      std::make_shared<Event>(current_device(), false, false, std::move(*shared), true));
  return Status::success;
}

Status destroy_event(const void* handle) {
  return Core::get().events.remove(handle) ? Status::success : Status::invalid_handle;
}

Result<std::shared_ptr<Event>> event_of(const void* handle) {
  auto event = Core::get().events.find(handle);
  if (!event) return fail(Status::invalid_handle);
  return event;
}

namespace {

// Reports to listeners that the host knows the event's recorded work to be done.
void report_known(const Event& event) {
  const auto recording = event.latest();
  if (!recording || !recording->ticket.count || !observes(check::Topic::host)) return;
  check::StreamEdge edge;
  edge.kind = check::StreamEdge::Kind::event_sync;
  edge.device = event.device().ordinal;
  edge.stream = recording->ticket.count->stream;
  edge.work = recording->ticket.number;
  edge.other = address_of(&event);
  observe_edge(edge);
}

}  // namespace

Status record_event(Stream& stream, const std::shared_ptr<Event>& event, unsigned flags) {
  if (flags & ~external_event) return Status::invalid_value;
  if (&event->device() != &stream.device()) return Status::invalid_handle;
  if (capturing(stream) && (flags & external_event)) return submit(stream, RecordWork{event});
  if (const auto captured = capture_record(stream, *event)) return *captured;
  if (Status status = allowed_now(stream); status != Status::success) return status;
  if (event->shared && event->shared->file() < 0) return lost_descriptor();
  forget_capture(*event);
  const Ticket ticket = event->record(stream);
  observe_edge(check::StreamEdge::Kind::event_record, stream, ticket.number,
               address_of(event.get()));
  return Status::success;
}

Status wait_event(Stream& stream, const std::shared_ptr<Event>& event, unsigned flags) {
  if (flags & ~external_event) return Status::invalid_value;
  if (capturing(stream) && (flags & external_event)) return submit(stream, WaitWork{event});
  if (const auto captured = capture_wait(stream, *event)) return *captured;
  if (Status status = allowed_now(stream); status != Status::success) return status;
  wait_for_latest(stream, *event);
  return Status::success;
}

Status record_event(Stream& stream, const void* handle, unsigned flags) {
  auto event = event_of(handle);
  return event ? record_event(stream, *event, flags) : event.error().status;
}

Status wait_event(Stream& stream, const void* handle, unsigned flags) {
  auto event = event_of(handle);
  return event ? wait_event(stream, *event, flags) : event.error().status;
}

Status synchronize(const Event& event) {
  if (Status status = waitable(event); status != Status::success) return status;
  {
    const PrintfFifo::Waiting waiting(event.device().printed);
    event.synchronize();
    release_idle_pools();
    report_known(event);
  }
  return event.device().fault();
}

Status query(const Event& event) {
  if (Status status = waitable(event); status != Status::success) return status;
  watch::queried();
  if (!event.done()) return Status::not_ready;
  report_known(event);
  return event.device().fault();
}

Status get_elapsed(float* milliseconds, const void* start, const void* end) {
  auto from = Core::get().events.find(start), to = Core::get().events.find(end);
  if (!from || !to) return Status::invalid_handle;
  if (!milliseconds) return Status::invalid_value;
  auto time = elapsed(*from, *to);
  if (!time) return time.error().status;
  *milliseconds = *time;
  return Status::success;
}

Status add_callback(Stream& stream, void* handle, StreamCallback callback, void* data,
                    unsigned flags) {
  if (flags || !callback) return Status::invalid_value;
  if (capturing(stream)) return Status::capture_unsupported;
  if (Status status = allowed_now(stream); status != Status::success) return status;
  stream.submit([&stream, &device = stream.device(), handle, callback, data] {
    device.printed.flush();
    observe_edge(check::StreamEdge::Kind::host_function, stream, Stream::work_now());
    const watch::Working working;
    callback(handle, int(device.fault()), data);
  });
  return Status::success;
}

}  // namespace inflight::cuda
