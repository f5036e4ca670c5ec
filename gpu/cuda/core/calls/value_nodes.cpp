// Parameters and work of graph nodes that write values and wait for values.
#include "gpu/cuda/core/calls/value_nodes.hpp"

#include "gpu/cuda/core/base/store.hpp"

namespace inflight::cuda {

Result<Work> value_node_work(const ValueNode* node) {
  if (!node || !node->context) return fail(Status::invalid_value);
  auto work = value_work(node->list, node->count, node->flags);
  if (!work) return tl::unexpected(work.error());
  work->context = node->context;
  return Work(std::move(*work));
}

Status get_value_node(const void* handle, ValueNode* place) {
  const std::lock_guard lock(graph_mutex());
  const auto node = node_of(handle);
  auto* const work = node ? std::get_if<ValueWork>(&node->work) : nullptr;
  if (!work) return Status::invalid_value;
  return store_value(place, {work->context, unsigned(work->operations.size()),
                             work->operations.data(), work->flags});
}

}  // namespace inflight::cuda
