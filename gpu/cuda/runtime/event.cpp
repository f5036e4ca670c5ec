// Events.
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

INFLIGHT_API int cudaEventCreateWithFlags(void** place, unsigned flags) {
  return entry([&] { return create_event(place, flags); });
}

INFLIGHT_API int cudaEventCreate(void** place) {
  return entry([&] { return create_event(place, 0); });
}

INFLIGHT_API int cudaEventDestroy(void* handle) {
  return entry([&] { return destroy_event(handle); });
}

INFLIGHT_API int cudaEventQuery(void* handle) {
  return on_event(handle, [](Event& event) { return query(event); });
}

INFLIGHT_API int cudaEventSynchronize(void* handle) {
  return on_event(handle, [](Event& event) { return synchronize(event); });
}

INFLIGHT_API int cudaIpcGetEventHandle(SharingHandle* to, void* handle) {
  return entry([&] { return export_event(to, handle); });
}

INFLIGHT_API int cudaIpcOpenEventHandle(void** place, SharingHandle handle) {
  return entry([&] { return import_event(place, handle); });
}

INFLIGHT_API int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  return entry([&] { return get_elapsed(milliseconds, start, end); });
}
