// What both APIs do with streams and events, captures included.
#pragma once
#include "gpu/cuda/core/core.hpp"

namespace inflight::cuda {

// Ends the stream's handle; what was submitted is still done (invalid_handle).
Status destroy_stream(const void* handle);
// Waits until the stream is idle and writes what kernels printed; the context's fault, if any.
Status wait_for(Stream& stream);
// success if idle, else not_ready.
Status ask(Stream& stream);

// Flags of cudaEventRecordWithFlags and cudaStreamWaitEvent.
inline constexpr unsigned external_event = 1;
Status record_event(Stream& stream, const std::shared_ptr<Event>& event, unsigned flags);
Status wait_event(Stream& stream, const std::shared_ptr<Event>& event, unsigned flags);
Status wait_for(const Event& event);
Status ask(const Event& event);

// Calls `callback` in stream order with the status that its context has by then.
using StreamCallback = void (*)(void* stream, int status, void* data);
Status add_callback(Stream& stream, void* handle, StreamCallback callback, void* data);

}  // namespace inflight::cuda
