// Events.
#include "gpu/cuda/core/stream/operations.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

namespace {
constexpr unsigned blocking_sync = 1, disable_timing = 2, interprocess = 4;
}

INFLIGHT_API int cudaEventCreateWithFlags(void** place, unsigned flags) {
  return entry([&] {
    if (!place || flags > 7) return Status::invalid_value;
    if ((flags & interprocess) && !(flags & disable_timing)) return Status::invalid_value;
    *place = Core::get().events.add(std::make_shared<Event>(
        current_device(), !(flags & disable_timing), flags & blocking_sync, flags & interprocess));
    return Status::success;
  });
}

INFLIGHT_API int cudaEventCreate(void** place) { return cudaEventCreateWithFlags(place, 0); }

INFLIGHT_API int cudaEventDestroy(void* handle) {
  return entry(
      [&] { return Core::get().events.remove(handle) ? Status::success : Status::invalid_handle; });
}

INFLIGHT_API int cudaEventQuery(void* handle) {
  return on_event(handle, [](Event& event) { return ask(event); });
}

INFLIGHT_API int cudaEventSynchronize(void* handle) {
  return on_event(handle, [](Event& event) { return wait_for(event); });
}

INFLIGHT_API int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  return entry([&] {
    auto from = Core::get().events.find(start), to = Core::get().events.find(end);
    if (!from || !to) return Status::invalid_handle;
    if (!milliseconds) return Status::invalid_value;
    auto time = elapsed(*from, *to);
    if (!time) return time.error().status;
    *milliseconds = *time;
    return Status::success;
  });
}
