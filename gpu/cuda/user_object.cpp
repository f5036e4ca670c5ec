// User objects of graphs.
#include "gpu/cuda/user_object.hpp"

#include <algorithm>

#include "gpu/cuda/graph.hpp"

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
  destroy_(data_);
  return Status::success;
}

void hold(Graph& graph, const std::shared_ptr<UserObject>& object, unsigned count, bool move) {
  if (!move) object->retain(count);
  graph.user_references.push_back(std::make_shared<UserReferences>(object, count));
}

Status let_go(Graph& graph, const std::shared_ptr<UserObject>& object, unsigned count) {
  auto& held = graph.user_references;
  auto it = std::find_if(held.begin(), held.end(), [&](const auto& each) {
    return each->object == object && each->count >= count;
  });
  if (it == held.end()) return Status::invalid_value;
  // Copies of the graph may share the holding, so what stays becomes one of its own.
  const std::shared_ptr<UserReferences> old = *it;
  held.erase(it);
  if (unsigned rest = old->count - count) hold(graph, object, rest, false);
  return Status::success;
}

}  // namespace inflight::cuda
