// What both APIs do with streams and events, captures included.
#pragma once
#include <memory>

#include "gpu/cuda/core/abi.hpp"
#include "gpu/cuda/core/core.hpp"

namespace inflight::cuda {

// On the current device (invalid_value: no place, or unknown flags). A priority that there is not
// becomes the nearest.
Status create_stream(void** place, unsigned flags, int priority);
// Ends the stream's handle; what was submitted is still done (invalid_handle).
Status destroy_stream(const void* handle);
// Waits until the stream is idle and shows what kernels printed; the context's fault, if any.
Status synchronize(Stream& stream);
// success if idle, else not_ready.
Status query(Stream& stream);

// Attributes are kept and given back, no more (invalid_value: streams have no such attribute).
using StreamAttribute = abi::LaunchAttribute::Value;
Status set_attribute(Stream& stream, int id, const StreamAttribute* value);
Status get_attribute(const Stream& stream, int id, StreamAttribute* value);
void copy_attributes(Stream& to, const Stream& from);

// Calls `callback` in stream order with the status that its context has by then.
using StreamCallback = void (*)(void* stream, int status, void* data);
Status add_callback(Stream& stream, void* handle, StreamCallback callback, void* data,
                    unsigned flags);

// With cudaEventCreateWithFlags's flags.
Status create_event(void** place, unsigned flags);
Status destroy_event(const void* handle);
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
