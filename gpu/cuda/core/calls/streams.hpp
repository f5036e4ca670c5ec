// Operations on streams and events, called by both APIs' entry points.
#pragma once
#include <memory>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {

// On the current device (invalid_value: no place, or unknown flags). A priority out of range is
// clamped.
Status create_stream(void** place, unsigned flags, int priority);
// Invalidates the handle. Submitted work is still done (invalid_handle).
Status destroy_stream(const void* handle);
// Waits until the stream is idle and flushes the kernels' printf output. Returns the context's
// fault, if any.
Status synchronize(Stream& stream);
// success if idle, else not_ready.
Status query(Stream& stream);

// Attributes are stored and returned, but have no effect (invalid_value: streams have no such
// attribute).
using StreamAttribute = abi::LaunchAttribute::Value;
Status set_attribute(Stream& stream, int id, const StreamAttribute* value);
Status get_attribute(const Stream& stream, int id, StreamAttribute* value);
void copy_attributes(Stream& to, const Stream& from);

// Calls `callback` in stream order, with the status of the stream's context at that time.
using StreamCallback = void (*)(void* stream, int status, void* data);
Status add_callback(Stream& stream, void* handle, StreamCallback callback, void* data,
                    unsigned flags);

// `flags` are those of cudaEventCreateWithFlags.
Status create_event(void** place, unsigned flags);
Status destroy_event(const void* handle);
// Export an event (invalid_value: it was not created for that), and import one (fails as
// open_shared does).
Status export_event(SharingHandle* to, const void* handle);
Status import_event(void** place, const SharingHandle& handle);
// The event of a handle (invalid_handle).
Result<std::shared_ptr<Event>> event_of(const void* handle);

// Flags of cudaEventRecordWithFlags and cudaStreamWaitEvent.
inline constexpr unsigned external_event = 1;
Status record_event(Stream& stream, const std::shared_ptr<Event>& event, unsigned flags);
Status wait_event(Stream& stream, const std::shared_ptr<Event>& event, unsigned flags);
// The same by the event's handle.
Status record_event(Stream& stream, const void* event, unsigned flags);
Status wait_event(Stream& stream, const void* event, unsigned flags);
Status synchronize(const Event& event);
Status query(const Event& event);
// The time between two events' recordings.
Status get_elapsed(float* milliseconds, const void* start, const void* end);

}  // namespace inflight::cuda
