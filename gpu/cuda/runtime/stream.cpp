// Streams, and their work other than copies and kernels. Compiled twice: see entry.hpp.
#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

#ifndef INFLIGHT_PER_THREAD

INFLIGHT_API int cudaStreamCreate(void** place) {
  return entry([&] { return create_stream(place, 0, lowest_priority); });
}
INFLIGHT_API int cudaStreamCreateWithFlags(void** place, unsigned flags) {
  return entry([&] { return create_stream(place, flags, lowest_priority); });
}
INFLIGHT_API int cudaStreamCreateWithPriority(void** place, unsigned flags, int priority) {
  return entry([&] { return create_stream(place, flags, priority); });
}
INFLIGHT_API int cudaStreamDestroy(void* stream) {
  return entry([&] { return destroy_stream(stream); });
}

#endif

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamSynchronize)(void* stream) {
  return on_stream(stream, [](Stream& s) { return synchronize(s); });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamQuery)(void* stream) {
  return on_stream(stream, [](Stream& s) { return query(s); });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetPriority)(void* stream, int* priority) {
  return on_stream(stream, [&](Stream& s) { return store_value(priority, s.priority()); });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetFlags)(void* stream, unsigned* flags) {
  return on_stream(stream,
                   [&](Stream& s) { return store_value(flags, unsigned(s.non_blocking())); });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetId)(void* stream, unsigned long long* id) {
  return on_stream(stream, [&](Stream& s) { return store_value(id, s.id()); });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetDevice)(void* stream, int* device) {
  return on_stream(stream, [&](Stream& s) { return store_value(device, s.device().ordinal); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamWaitEvent)(void* stream, void* handle,
                                                        unsigned flags) {
  return on_stream(stream, [&](Stream& s) { return wait_event(s, handle, flags); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaEventRecordWithFlags)(void* handle, void* stream,
                                                             unsigned flags) {
  return on_stream(stream, [&](Stream& s) { return record_event(s, handle, flags); });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaEventRecord)(void* handle, void* stream) {
  return on_stream(stream, [&](Stream& s) { return record_event(s, handle, 0); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaLaunchHostFunc)(void* stream, void (*function)(void*),
                                                       void* data) {
  return on_stream(stream, [&](Stream& s) { return submit(s, HostWork{function, data}); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamAddCallback)(void* stream, StreamCallback callback,
                                                          void* data, unsigned flags) {
  return on_stream(stream,
                   [&](Stream& s) { return add_callback(s, stream, callback, data, flags); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamSetAttribute)(void* stream, int id,
                                                           const StreamAttribute* value) {
  return on_stream(stream, [&](Stream& s) { return set_attribute(s, id, value); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetAttribute)(void* stream, int id,
                                                           StreamAttribute* value) {
  return on_stream(stream, [&](Stream& s) { return get_attribute(s, id, value); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamCopyAttributes)(void* to, void* from) {
  return on_stream(from, [&](Stream& source) {
    auto target = stream_of(to, per_thread);
    if (!target) return target.error().status;
    copy_attributes(**target, source);
    return Status::success;
  });
}
