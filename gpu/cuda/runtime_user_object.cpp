// User objects' entry points.
#include "gpu/cuda/runtime_graph.hpp"
#include "gpu/cuda/user_object.hpp"

using namespace inflight::cuda;

namespace {

template <class Body>
int on_object(const void* handle, unsigned count, Body body) {
  return query([&]() -> Status {
    std::lock_guard lock(graph_mutex());
    auto object = Core::get().user_objects.find(handle);
    return object && count ? as_status(body(object)) : Status::invalid_value;
  });
}

}  // namespace

INFLIGHT_API int cudaUserObjectCreate(void** place, void* data, void (*destroy)(void*),
                                      unsigned references, unsigned flags) {
  constexpr unsigned no_destructor_sync = 1;  // the one flag there is, and it must be given
  return query([&] {
    if (!place || !destroy || references == 0 || flags != no_destructor_sync)
      return Status::invalid_value;
    *place = Core::get().user_objects.add(std::make_shared<UserObject>(data, destroy, references));
    return Status::success;
  });
}

INFLIGHT_API int cudaUserObjectRetain(void* handle, unsigned count) {
  return on_object(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    object->retain(count);
    return Status::success;
  });
}

INFLIGHT_API int cudaUserObjectRelease(void* handle, unsigned count) {
  return on_object(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    return object->release(count);
  });
}

INFLIGHT_API int cudaGraphRetainUserObject(void* graph, void* handle, unsigned count,
                                           unsigned flags) {
  constexpr unsigned move = 1;
  return on_graph(graph, [&](Graph& g) {
    auto object = Core::get().user_objects.find(handle);
    if (!object || count == 0 || flags > move) return Status::invalid_value;
    hold(g, object, count, flags == move);
    return Status::success;
  });
}

INFLIGHT_API int cudaGraphReleaseUserObject(void* graph, void* handle, unsigned count) {
  return on_graph(graph, [&](Graph& g) {
    auto object = Core::get().user_objects.find(handle);
    return object && count ? let_go(g, object, count) : Status::invalid_value;
  });
}
