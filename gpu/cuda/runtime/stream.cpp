// Streams and what is put into them besides copies and kernels. Compiled twice: see
// entry.hpp.
#include <algorithm>
#include <bit>

#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/stream/operations.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

namespace {

template <class T>
Status put(T* place, T value) {
  if (!place) return Status::invalid_value;
  *place = value;
  return Status::success;
}

using Value = abi::LaunchAttribute::Value;

#ifndef INFLIGHT_PER_THREAD

constexpr unsigned non_blocking_flag = 1;

Status create(void** place, unsigned flags, int priority) {
  if (!place || (flags & ~non_blocking_flag)) return Status::invalid_value;
  auto stream = current_device().create_stream(
      flags & non_blocking_flag, std::clamp(priority, highest_priority, lowest_priority));
  observe_edge(inflight::check::StreamEdge::Kind::created, *stream);
  *place = Core::get().streams.add(std::move(stream));
  return Status::success;
}

#endif

}  // namespace

namespace {

bool is_stream_attribute(int id) {
  return id == abi::launch_access_policy || id == abi::launch_synchronization_policy ||
         id == abi::launch_priority || id == abi::launch_memory_domain_map ||
         id == abi::launch_memory_domain;
}

}  // namespace

#ifndef INFLIGHT_PER_THREAD

INFLIGHT_API int cudaStreamCreate(void** place) {
  return entry([&] { return create(place, 0, lowest_priority); });
}
INFLIGHT_API int cudaStreamCreateWithFlags(void** place, unsigned flags) {
  return entry([&] { return create(place, flags, lowest_priority); });
}
INFLIGHT_API int cudaStreamCreateWithPriority(void** place, unsigned flags, int priority) {
  return entry([&] { return create(place, flags, priority); });
}
INFLIGHT_API int cudaStreamDestroy(void* stream) {
  return entry([&] { return destroy_stream(stream); });
}

#endif

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamSynchronize)(void* stream) {
  return on_stream(stream, [](Stream& s) { return wait_for(s); });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamQuery)(void* stream) {
  return on_stream(stream, [](Stream& s) { return ask(s); });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetPriority)(void* stream, int* priority) {
  return on_stream(stream, [&](Stream& s) { return put(priority, s.priority()); });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetFlags)(void* stream, unsigned* flags) {
  return on_stream(stream, [&](Stream& s) { return put(flags, unsigned(s.non_blocking())); });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetId)(void* stream, unsigned long long* id) {
  return on_stream(stream, [&](Stream& s) { return put<unsigned long long>(id, s.id()); });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetDevice)(void* stream, int* device) {
  return on_stream(stream, [&](Stream& s) { return put(device, s.device().ordinal); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamWaitEvent)(void* stream, void* handle,
                                                        unsigned flags) {
  return on_stream(stream, [&](Stream& s) {
    auto event = Core::get().events.find(handle);
    return event ? wait_event(s, event, flags) : Status::invalid_handle;
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaEventRecordWithFlags)(void* handle, void* stream,
                                                             unsigned flags) {
  return on_stream(stream, [&](Stream& s) {
    auto event = Core::get().events.find(handle);
    return event ? record_event(s, event, flags) : Status::invalid_handle;
  });
}
INFLIGHT_API int INFLIGHT_STREAMED(cudaEventRecord)(void* handle, void* stream) {
  return INFLIGHT_STREAMED(cudaEventRecordWithFlags)(handle, stream, 0);
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaLaunchHostFunc)(void* stream, void (*function)(void*),
                                                       void* data) {
  return on_stream(stream, [&](Stream& s) { return submit(s, HostWork{function, data}); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamAddCallback)(void* stream, StreamCallback callback,
                                                          void* data, unsigned flags) {
  return on_stream(stream, [&](Stream& s) {
    return flags ? Status::invalid_value : add_callback(s, stream, callback, data);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamSetAttribute)(void* stream, int id,
                                                           const Value* value) {
  return on_stream(stream, [&](Stream& s) {
    if (!value || !is_stream_attribute(id)) return Status::invalid_value;
    s.set_attribute(id, std::bit_cast<Stream::AttributeValue>(*value));
    return Status::success;
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamGetAttribute)(void* stream, int id, Value* value) {
  return on_stream(stream, [&](Stream& s) {
    if (!value || !is_stream_attribute(id)) return Status::invalid_value;
    auto kept = s.attribute(id);
    *value = kept ? std::bit_cast<Value>(*kept) : Value{};
    if (!kept && id == abi::launch_priority) value->integer = s.priority();
    return Status::success;
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaStreamCopyAttributes)(void* to, void* from) {
  return on_stream(from, [&](Stream& source) {
    auto target = stream_of(to, per_thread);
    if (!target) return target.error().status;
    for (int id = 0; id <= abi::launch_nvlink; ++id)
      if (auto kept = source.attribute(id)) (*target)->set_attribute(id, *kept);
    return Status::success;
  });
}
