// Operations on graphs, for both APIs.
#include "gpu/cuda/core/calls/graphs.hpp"

#include <algorithm>

#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/calls/nodes.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/core/report/call.hpp"

namespace inflight::cuda {
namespace {

// Runs body(Graph&), body(Node&) or body(GraphExec&) with the object of a handle. If the body drops
// the object, the program's destructors run without the mutex.
template <class Body>
Status with_graph(const void* handle, Body body) {
  std::shared_ptr<Graph> graph;
  std::lock_guard lock(graph_mutex());
  graph = Core::get().graphs.find(handle);
  return graph ? body(*graph) : Status::invalid_value;
}
template <class Body>
Status with_any_node(const void* handle, Body body) {
  std::shared_ptr<Node> node;
  std::lock_guard lock(graph_mutex());
  node = node_of(handle);
  return node ? body(*node) : Status::invalid_value;
}
template <class Body>
Status with_exec(const void* handle, Body body) {
  std::shared_ptr<GraphExec> exec;
  std::lock_guard lock(graph_mutex());
  exec = Core::get().graph_execs.find(handle);
  return exec ? body(*exec) : Status::invalid_value;
}

Status store_nodes(const std::vector<Node*>& nodes, void** place, std::size_t* count) {
  if (!count) return Status::invalid_value;
  if (!place) {
    *count = nodes.size();
    return Status::success;
  }
  const std::size_t room = *count, given = std::min(room, nodes.size());
  std::copy_n(nodes.begin(), given, place);
  std::fill(place + given, place + room, nullptr);
  *count = given;
  return Status::success;
}

Status store_edges(const std::vector<EdgeKind>& kinds, abi::EdgeData* place, std::size_t room) {
  for (std::size_t i = 0; i < std::min(room, kinds.size()); ++i) {
    if (!place && !kinds[i].plain()) return Status::lossy_query;
    if (place) place[i] = {kinds[i].from_port, kinds[i].to_port, kinds[i].type, {}};
  }
  return Status::success;
}

// Stores the nodes at the other end of edges, and the edges' data.
Status store_neighbours(const std::vector<Node*>& nodes, const std::vector<EdgeKind>& kinds,
                        void** place, abi::EdgeData* data, std::size_t* count) {
  if (place && count)
    if (Status status = store_edges(kinds, data, *count); status != Status::success) return status;
  return store_nodes(nodes, place, count);
}

std::vector<Node*> pointers(const std::vector<std::shared_ptr<Node>>& nodes) {
  std::vector<Node*> result;
  for (const auto& node : nodes) result.push_back(node.get());
  return result;
}

using Change = Status (Graph::*)(Node*, Node*, EdgeKind);
Status change_edges(const void* handle, void* const* from, void* const* to,
                    const abi::EdgeData* data, std::size_t count, Change change) {
  return with_graph(handle, [&](Graph& graph) {
    auto sources = nodes_of(from, count), targets = nodes_of(to, count);
    if (!sources || !targets) return Status::invalid_value;
    Status status = Status::success;
    for (std::size_t i = 0; i < count && status == Status::success; ++i) {
      const auto kind = edge_kind(data ? data + i : nullptr);
      status = kind ? (graph.*change)((*sources)[i], (*targets)[i], *kind) : kind.error().status;
    }
    return status;
  });
}

// True if kernels may change a node of the graph.
bool has_updatable(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) {
    const auto* const kernel = std::get_if<KernelWork>(&node->work);
    return kernel && kernel->updatable;
  });
}

// The reason why kernels cannot launch a graph.
struct Unfit {
  abi::InstantiateResult result = abi::instantiate_success;
  Node* node = nullptr;
};

bool reaches_devices(const Copy& copy) {
  return !copy.from_array && !copy.to_array && !pageable(copy.from) && !pageable(copy.to);
}

// The first node that is no kernel, fill, copy of memory that the device reaches, or graph of
// these.
Unfit unfit_node(const Graph& graph, std::size_t& working) {
  for (const auto& node : graph.nodes()) {
    const Unfit refused{abi::instantiate_operation, node.get()};
    if (const auto* const child = std::get_if<ChildWork>(&node->work)) {
      const Unfit inside = unfit_node(*child->graph, working);
      if (inside.result != abi::instantiate_success) return inside;
      continue;
    }
    const auto* const copy = std::get_if<Copy>(&node->work);
    const bool other = !copy && !std::holds_alternative<KernelWork>(node->work) &&
                       !std::holds_alternative<Fill>(node->work);
    if (other || (copy && !reaches_devices(*copy))) return refused;
    ++working;
  }
  return {};
}

// True if the program has not destroyed the graph's latest executable graph.
bool has_instance(const Graph& graph) {
  const auto instance = graph.instance.lock();
  return instance && Core::get().graph_execs.find(instance.get());
}

Unfit unfit_for_devices(const Graph& graph) {
  std::size_t working = 0;
  const Unfit unfit = unfit_node(graph, working);
  if (unfit.result == abi::instantiate_success && working == 0)
    return {abi::instantiate_structure, nullptr};
  return unfit;
}

}  // namespace

Status create_graph(void** place, unsigned flags) {
  if (!place || flags) return Status::invalid_value;
  *place = Core::get().graphs.add(std::make_shared<Graph>());
  return Status::success;
}

Status destroy_graph(const void* handle) {
  return with_graph(handle, [&](Graph& graph) {
    if (graph.embedded) return Status::invalid_value;
    if (captured_into(graph)) return Status::illegal_state;
    Core::get().graphs.remove(handle);
    return Status::success;
  });
}

Status clone_graph(void** place, const void* handle) {
  return with_graph(handle, [&](Graph& graph) {
    if (!place) return Status::invalid_value;
    if (has_updatable(graph) || graph.has_memory()) return Status::not_supported;
    *place = Core::get().graphs.add(graph.clone());
    return Status::success;
  });
}

Status find_in_clone(void** place, const void* original, const void* clone) {
  return with_graph(clone, [&](Graph& graph) {
    for (const auto& node : graph.nodes())
      if (node->origin == original) return store_value(place, node.get());
    return Status::invalid_value;
  });
}

Status get_nodes(const void* handle, void** place, std::size_t* count) {
  return with_graph(handle,
                    [&](Graph& g) { return store_nodes(pointers(g.nodes()), place, count); });
}

Status get_root_nodes(const void* handle, void** place, std::size_t* count) {
  return with_graph(handle, [&](Graph& g) { return store_nodes(g.roots(), place, count); });
}

Status get_edges(const void* handle, void** from, void** to, abi::EdgeData* data,
                 std::size_t* count) {
  return with_graph(handle, [&](Graph& graph) {
    std::vector<Node*> sources, targets;
    std::vector<EdgeKind> kinds;
    for (const auto& edge : graph.edges()) {
      sources.push_back(edge.from);
      targets.push_back(edge.to);
      kinds.push_back(edge.kind);
    }
    if (!count || (!from != !to)) return Status::invalid_value;
    std::size_t room = *count;
    if (from)
      if (Status status = store_edges(kinds, data, room); status != Status::success) return status;
    store_nodes(sources, from, &room);
    return store_nodes(targets, to, count);
  });
}

Status get_dependencies(const void* handle, void** place, abi::EdgeData* data, std::size_t* count) {
  return with_any_node(handle, [&](Node& node) {
    std::vector<EdgeKind> kinds;
    for (const Node* each : node.dependencies) kinds.push_back(node.kind(each));
    return store_neighbours(node.dependencies, kinds, place, data, count);
  });
}

Status get_dependents(const void* handle, void** place, abi::EdgeData* data, std::size_t* count) {
  return with_any_node(handle, [&](Node& node) {
    const std::vector<Node*> dependents = node.graph->dependents(&node);
    std::vector<EdgeKind> kinds;
    for (const Node* each : dependents) kinds.push_back(each->kind(&node));
    return store_neighbours(dependents, kinds, place, data, count);
  });
}

Status get_node_type(const void* handle, int* type) {
  return with_any_node(handle, [&](Node& node) { return store_value(type, node_type(node.work)); });
}

Status add_dependencies(const void* graph, void* const* from, void* const* to,
                        const abi::EdgeData* data, std::size_t count) {
  return change_edges(graph, from, to, data, count, &Graph::connect);
}

Status remove_dependencies(const void* graph, void* const* from, void* const* to,
                           const abi::EdgeData* data, std::size_t count) {
  const Status status = with_graph(
      graph, [](Graph& g) { return g.has_memory() ? Status::not_supported : Status::success; });
  if (status != Status::success) return status;
  return change_edges(graph, from, to, data, count, &Graph::disconnect);
}

Status destroy_node(const void* handle) {
  return with_any_node(handle, [](Node& node) {
    if (captured_into(*node.graph)) return Status::illegal_state;
    const auto* const kernel = std::get_if<KernelWork>(&node.work);
    if ((kernel && kernel->updatable) || node.graph->has_memory()) return Status::not_supported;
    return node.graph->remove(&node);
  });
}

Status instantiate(void** place, const void* handle, unsigned long long flags) {
  abi::InstantiateParameters parameters{flags, nullptr, nullptr, 0};
  return instantiate(place, handle, &parameters);
}

Status instantiate(void** place, const void* handle, abi::InstantiateParameters* parameters) {
  constexpr unsigned long long known = 0xf, auto_free = 1, upload = 2, device_launch = 4;
  if (!parameters) return Status::invalid_value;
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  const unsigned long long flags = parameters->flags;
  parameters->error_node = nullptr;
  parameters->result = abi::instantiate_error;
  return with_graph(handle, [&](Graph& graph) {
    if (!place || (flags & ~known) || (flags & auto_free && flags & device_launch))
      return Status::invalid_value;
    if (flags & device_launch) {
      const Unfit unfit = unfit_for_devices(graph);
      parameters->error_node = unfit.node;
      parameters->result = unfit.result;
      if (unfit.result != abi::instantiate_success) return Status::invalid_value;
    }
    if (graph.has_memory() && has_instance(graph)) return Status::not_supported;
    auto exec = GraphExec::make(graph, flags);
    if (!exec) return exec.error().status;
    graph.instance = *exec;
    if (flags & upload) (*exec)->upload();
    parameters->result = abi::instantiate_success;
    *place = Core::get().graph_execs.add(std::move(*exec));
    return Status::success;
  });
}

Status destroy_exec(const void* handle) {
  return with_exec(handle, [&](GraphExec& exec) {
    exec.release_nodes();
    Core::get().graph_execs.remove(handle);
    return Status::success;
  });
}

Status get_exec_flags(const void* handle, unsigned long long* flags) {
  return with_exec(handle, [&](GraphExec& exec) { return store_value(flags, exec.flags); });
}

Status update_exec(const void* handle, const void* graph_handle, abi::UpdateResult* result) {
  return with_exec(handle, [&](GraphExec& exec) {
    auto graph = Core::get().graphs.find(graph_handle);
    if (!graph || !result) return Status::invalid_value;
    const GraphExec::Updated updated = exec.update(*graph);
    *result = {int(updated.change), updated.node, nullptr};
    return updated.change == GraphExec::Change::none ? Status::success
                                                     : Status::graph_exec_update_failure;
  });
}

Status set_enabled(const void* handle, const void* node, unsigned enabled) {
  return with_exec(handle, [&](GraphExec& exec) {
    return exec.enable(static_cast<const Node*>(node), enabled != 0);
  });
}

Status get_enabled(const void* handle, const void* node, unsigned* enabled) {
  return with_exec(handle, [&](GraphExec& exec) {
    auto found = exec.enabled(static_cast<const Node*>(node));
    return found ? store_value(enabled, *found) : Status::invalid_value;
  });
}

Status launch_graph(Stream& stream, const void* handle) {
  auto exec = Core::get().graph_execs.find(handle);
  if (!exec) return Status::invalid_value;
  if (Status status = not_captured(stream); status != Status::success) return status;
  Call::hold();
  if (Status status = allowed_now(stream); status != Status::success) return status;
  return exec->launch(stream.shared_from_this());
}

Status upload_graph(const Stream& stream, const void* handle) {
  if (!Core::get().graph_execs.find(handle)) return Status::invalid_value;
  if (Status status = not_captured(stream); status != Status::success) return status;
  return with_exec(handle, [](GraphExec& exec) {
    exec.upload();
    return Status::success;
  });
}

}  // namespace inflight::cuda
