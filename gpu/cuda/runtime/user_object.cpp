// User objects' entry points.
#include "gpu/cuda/core/graph/user_object.hpp"

#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

INFLIGHT_API int cudaUserObjectCreate(void** place, void* data, void (*destroy)(void*),
                                      unsigned references, unsigned flags) {
  return query([&] { return make_user_object(place, data, destroy, references, flags); });
}

INFLIGHT_API int cudaUserObjectRetain(void* handle, unsigned count) {
  return query([&] { return retain_user_object(handle, count); });
}

INFLIGHT_API int cudaUserObjectRelease(void* handle, unsigned count) {
  return query([&] { return release_user_object(handle, count); });
}

INFLIGHT_API int cudaGraphRetainUserObject(void* graph, void* handle, unsigned count,
                                           unsigned flags) {
  return entry([&] { return retain_in_graph(graph, handle, count, flags); });
}

INFLIGHT_API int cudaGraphReleaseUserObject(void* graph, void* handle, unsigned count) {
  return entry([&] { return release_from_graph(graph, handle, count); });
}
