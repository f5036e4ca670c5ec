// User objects of graphs.
#include "gpu/cuda/core/graph/user_object.hpp"

#include <algorithm>
#include <limits>

#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/queue/stream.hpp"

namespace inflight::cuda {

Status UserObject::retain(unsigned count) {
  std::lock_guard lock(mutex_);
  if (references_ == 0 || count > std::numeric_limits<unsigned>::max() - references_)
    return Status::invalid_value;
  references_ += count;
  return Status::success;
}

Status UserObject::release(unsigned count) {
  {
    std::lock_guard lock(mutex_);
    if (count > references_) return Status::invalid_value;
    references_ -= count;
    if (references_ > 0) return Status::success;
  }
  const auto self = Core::get().user_objects.remove(this);  // the handle ends with the object
  Stream::refusing_calls([this] { destroy_(data_); });
  Core::get().user_objects.remove(this);  // the caller still holds it
  return Status::success;
}

Status retain(Graph& graph, const std::shared_ptr<UserObject>& object, unsigned count, bool move) {
  if (Status status = move ? Status::success : object->retain(count); status != Status::success)
    return status;
  graph.user_references.push_back(std::make_shared<UserReferences>(object, count));
  return Status::success;
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
  const unsigned rest = old->count - count;
  if (rest == 0) {
    held.erase(it);
    return Status::success;
  }
  if (Status status = object->retain(rest); status != Status::success) return status;
  *it = std::make_shared<UserReferences>(object, rest);
  return Status::success;
}

namespace {

// A call may retain or release as many references as an int holds, as on an H200.
bool possible(unsigned count) {
  return count != 0 && count <= unsigned(std::numeric_limits<int>::max());
}

}  // namespace

Status make_user_object(void** place, void* data, void (*destroy)(void*), unsigned references,
                        unsigned flags) {
  constexpr unsigned no_destructor_sync = 1;  // the one flag there is, and it must be given
  if (!place || !destroy || references == 0 || flags != no_destructor_sync)
    return Status::invalid_value;
  *place = Core::get().user_objects.add(std::make_shared<UserObject>(data, destroy, references));
  return Status::success;
}

Status retain_user_object(const void* handle, unsigned count) {
  auto object = Core::get().user_objects.find(handle);
  return object && possible(count) ? object->retain(count) : Status::invalid_value;
}

Status release_user_object(const void* handle, unsigned count) {
  auto object = Core::get().user_objects.find(handle);
  return object && possible(count) ? object->release(count) : Status::invalid_value;
}

Status retain_in_graph(const void* graph, const void* handle, unsigned count, unsigned flags) {
  constexpr unsigned move = 1;
  std::lock_guard lock(graph_mutex());
  auto holder = Core::get().graphs.find(graph);
  auto object = Core::get().user_objects.find(handle);
  if (!holder || !object || !possible(count) || flags > move) return Status::invalid_value;
  return retain(*holder, object, count, flags == move);
}

Status release_from_graph(const void* graph, const void* handle, unsigned count) {
  // If it is the last, the program's destructor runs without the mutex.
  std::vector<std::shared_ptr<UserReferences>> before;
  std::lock_guard lock(graph_mutex());
  auto holder = Core::get().graphs.find(graph);
  auto object = Core::get().user_objects.find(handle);
  if (!holder || !object || !possible(count)) return Status::invalid_value;
  before = holder->user_references;
  return release(*holder, object, count);
}

}  // namespace inflight::cuda
