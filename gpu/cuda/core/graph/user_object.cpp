// User objects of graphs.
#include "gpu/cuda/core/graph/user_object.hpp"

#include <algorithm>

#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/stream/stream.hpp"

namespace inflight::cuda {

void UserObject::retain(unsigned count) {
  std::lock_guard lock(mutex_);
  references_ += count;
}

Status UserObject::release(unsigned count) {
  {
    std::lock_guard lock(mutex_);
    if (count > references_) return Status::invalid_value;
    references_ -= count;
    if (references_ > 0) return Status::success;
  }
  Stream::refusing_calls([this] { destroy_(data_); });
  Core::get().user_objects.remove(this);  // the caller still holds it
  return Status::success;
}

void retain(Graph& graph, const std::shared_ptr<UserObject>& object, unsigned count, bool move) {
  if (!move) object->retain(count);
  graph.user_references.push_back(std::make_shared<UserReferences>(object, count));
}

Status release(Graph& graph, const std::shared_ptr<UserObject>& object, unsigned count) {
  auto& held = graph.user_references;
  auto it = std::find_if(held.begin(), held.end(), [&](const auto& each) {
    return each->object == object && each->count >= count;
  });
  if (it == held.end()) return Status::invalid_value;
  // Clones of the graph may share these references, so the rest becomes an entry of this graph
  // alone.
  const std::shared_ptr<UserReferences> old = *it;
  held.erase(it);
  if (unsigned rest = old->count - count) retain(graph, object, rest, false);
  return Status::success;
}

Status make_user_object(void** place, void* data, void (*destroy)(void*), unsigned references,
                        unsigned flags) {
  constexpr unsigned no_destructor_sync = 1;  // the one flag there is, and it must be given
  if (!place || !destroy || references == 0 || flags != no_destructor_sync)
    return Status::invalid_value;
  *place = Core::get().user_objects.add(std::make_shared<UserObject>(data, destroy, references));
  return Status::success;
}

Status retain_user_object(const void* handle, unsigned count) {
  std::lock_guard lock(graph_mutex());
  auto object = Core::get().user_objects.find(handle);
  if (!object || count == 0) return Status::invalid_value;
  object->retain(count);
  return Status::success;
}

Status release_user_object(const void* handle, unsigned count) {
  std::lock_guard lock(graph_mutex());
  auto object = Core::get().user_objects.find(handle);
  return object && count ? object->release(count) : Status::invalid_value;
}

Status retain_in_graph(const void* graph, const void* handle, unsigned count, unsigned flags) {
  constexpr unsigned move = 1;
  std::lock_guard lock(graph_mutex());
  auto holder = Core::get().graphs.find(graph);
  auto object = Core::get().user_objects.find(handle);
  if (!holder || !object || count == 0 || flags > move) return Status::invalid_value;
  retain(*holder, object, count, flags == move);
  return Status::success;
}

Status release_from_graph(const void* graph, const void* handle, unsigned count) {
  std::lock_guard lock(graph_mutex());
  auto holder = Core::get().graphs.find(graph);
  auto object = Core::get().user_objects.find(handle);
  return holder && object && count ? release(*holder, object, count) : Status::invalid_value;
}

}  // namespace inflight::cuda
