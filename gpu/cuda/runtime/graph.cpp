// Graphs as objects: building, reading, copying, instantiating.
#include "gpu/cuda/runtime/graph.hpp"

#include <algorithm>
#include <cstdio>

using namespace inflight::cuda;

namespace {

// CUDA's way to answer a list: its length if `place` is null, else as much as there is room for.
Status answer_nodes(const std::vector<Node*>& nodes, void** place, std::size_t* count) {
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

// Edges' data, as much as there is room for; lossy_query where nobody asks for data that says
// something.
Status answer_edges(const std::vector<EdgeKind>& kinds, abi::EdgeData* place, std::size_t room) {
  for (std::size_t i = 0; i < std::min(room, kinds.size()); ++i) {
    if (!place && !kinds[i].plain()) return Status::lossy_query;
    if (place) place[i] = {kinds[i].from_port, kinds[i].to_port, kinds[i].type, {}};
  }
  return Status::success;
}

std::vector<Node*> pointers(const std::vector<std::shared_ptr<Node>>& nodes) {
  std::vector<Node*> result;
  for (const auto& node : nodes) result.push_back(node.get());
  return result;
}

// body(Node&), whatever its work.
template <class Body>
int on_any_node(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        std::lock_guard lock(graph_mutex());
        auto node = node_of(handle);
        return node ? as_status(body(*node)) : Status::invalid_value;
      },
      call);
}

using Change = Status (Graph::*)(Node*, Node*, EdgeKind);
Status change_edges(Graph& graph, void* const* from, void* const* to, const abi::EdgeData* data,
                    std::size_t count, Change change) {
  auto sources = nodes_of(from, count), targets = nodes_of(to, count);
  if (!sources || !targets) return Status::invalid_value;
  Status status = Status::success;
  for (std::size_t i = 0; i < count && status == Status::success; ++i) {
    const auto kind = edge_kind(data ? data + i : nullptr);
    status = kind ? (graph.*change)((*sources)[i], (*targets)[i], *kind) : kind.error().status;
  }
  return status;
}

constexpr const char* type_names[] = {"kernel", "memcpy", "memset",       "host",
                                      "graph",  "empty",  "event wait",   "event record",
                                      "signal", "wait",   "memory alloc", "memory free"};

Status print_dot(const Graph& graph, const char* path) {
  std::FILE* file = path ? std::fopen(path, "w") : nullptr;
  if (!file) return Status::invalid_value;
  std::fprintf(file, "digraph graph_%llu {\n", static_cast<unsigned long long>(graph.id));
  for (const auto& node : graph.nodes())
    std::fprintf(file, "  n%u [label=\"%u: %s\"];\n", node->id, node->id,
                 type_names[node_type(node->work)]);
  for (const auto& edge : graph.edges())
    std::fprintf(file, "  n%u -> n%u;\n", edge.from->id, edge.to->id);
  std::fprintf(file, "}\n");
  std::fclose(file);
  return Status::success;
}

}  // namespace

INFLIGHT_API int cudaGraphCreate(void** place, unsigned flags) {
  return entry([&] {
    if (!place || flags) return Status::invalid_value;
    *place = Core::get().graphs.add(std::make_shared<Graph>());
    return Status::success;
  });
}

INFLIGHT_API int cudaGraphDestroy(void* handle) {
  return on_graph(handle, [&](Graph& graph) {
    if (graph.embedded) return Status::invalid_value;
    Core::get().graphs.remove(handle);
    return Status::success;
  });
}

INFLIGHT_API int cudaGraphClone(void** place, void* handle) {
  return on_graph(handle, [&](Graph& graph) {
    if (!place) return Status::invalid_value;
    *place = Core::get().graphs.add(graph.clone());
    return Status::success;
  });
}

INFLIGHT_API int cudaGraphNodeFindInClone(void** place, void* original, void* clone) {
  return on_graph(clone, [&](Graph& graph) {
    for (const auto& node : graph.nodes()) {
      if (!place || node->origin != original) continue;
      *place = node.get();
      return Status::success;
    }
    return Status::invalid_value;
  });
}

INFLIGHT_API int cudaGraphGetNodes(void* handle, void** place, std::size_t* count) {
  return on_graph(handle,
                  [&](Graph& g) { return answer_nodes(pointers(g.nodes()), place, count); });
}

INFLIGHT_API int cudaGraphGetRootNodes(void* handle, void** place, std::size_t* count) {
  return on_graph(handle, [&](Graph& g) { return answer_nodes(g.roots(), place, count); });
}

INFLIGHT_API int cudaGraphGetEdges(void* handle, void** from, void** to, abi::EdgeData* data,
                                   std::size_t* count) {
  return on_graph(handle, [&](Graph& graph) {
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
      if (Status status = answer_edges(kinds, data, room); status != Status::success) return status;
    answer_nodes(sources, from, &room);
    return answer_nodes(targets, to, count);
  });
}

INFLIGHT_API int cudaGraphNodeGetType(void* handle, int* type) {
  return on_any_node(handle, [&](Node& node) {
    if (!type) return Status::invalid_value;
    *type = node_type(node.work);
    return Status::success;
  });
}

INFLIGHT_API int cudaGraphNodeGetDependencies(void* handle, void** place, abi::EdgeData* data,
                                              std::size_t* count) {
  return on_any_node(handle, [&](Node& node) {
    std::vector<EdgeKind> kinds;
    for (const Node* each : node.dependencies) kinds.push_back(node.kind(each));
    if (place && count)
      if (Status status = answer_edges(kinds, data, *count); status != Status::success)
        return status;
    return answer_nodes(node.dependencies, place, count);
  });
}

INFLIGHT_API int cudaGraphNodeGetDependentNodes(void* handle, void** place, abi::EdgeData* data,
                                                std::size_t* count) {
  return on_any_node(handle, [&](Node& node) {
    const std::vector<Node*> dependents = node.graph->dependents(&node);
    std::vector<EdgeKind> kinds;
    for (const Node* each : dependents) kinds.push_back(each->kind(&node));
    if (place && count)
      if (Status status = answer_edges(kinds, data, *count); status != Status::success)
        return status;
    return answer_nodes(dependents, place, count);
  });
}

INFLIGHT_API int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to,
                                          const abi::EdgeData* data, std::size_t count) {
  return on_graph(
      graph, [&](Graph& g) { return change_edges(g, from, to, data, count, &Graph::connect); });
}

INFLIGHT_API int cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to,
                                             const abi::EdgeData* data, std::size_t count) {
  return on_graph(
      graph, [&](Graph& g) { return change_edges(g, from, to, data, count, &Graph::disconnect); });
}

INFLIGHT_API int cudaGraphDestroyNode(void* handle) {
  return on_any_node(handle, [](Node& node) { return node.graph->remove(&node); });
}

INFLIGHT_API int cudaGraphDebugDotPrint(void* handle, const char* path, unsigned) {
  return on_graph(handle, [&](Graph& graph) { return print_dot(graph, path); });
}

// --- instantiated graphs ----------------------------------------------------------------------

INFLIGHT_API int cudaGraphInstantiate(void** place, void* graph, unsigned long long flags) {
  return entry([&] { return instantiate(place, graph, flags); });
}
INFLIGHT_API int cudaGraphInstantiateWithFlags(void** place, void* graph,
                                               unsigned long long flags) {
  return entry([&] { return instantiate(place, graph, flags); });
}

namespace {
template <class Body>
int on_exec(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        std::lock_guard lock(graph_mutex());
        auto exec = Core::get().graph_execs.find(handle);
        return exec ? as_status(body(*exec)) : Status::invalid_value;
      },
      call);
}
}  // namespace

INFLIGHT_API int cudaGraphExecDestroy(void* handle) {
  return on_exec(handle, [&](GraphExec&) {
    Core::get().graph_execs.remove(handle);
    return Status::success;
  });
}

INFLIGHT_API int cudaGraphExecGetFlags(void* handle, unsigned long long* flags) {
  return on_exec(handle, [&](GraphExec& exec) {
    if (!flags) return Status::invalid_value;
    *flags = exec.flags;
    return Status::success;
  });
}

INFLIGHT_API int cudaGraphExecUpdate(void* handle, void* graph_handle, abi::UpdateResult* result) {
  return on_exec(handle, [&](GraphExec& exec) {
    auto graph = Core::get().graphs.find(graph_handle);
    if (!graph || !result) return Status::invalid_value;
    const GraphExec::Updated updated = exec.update(*graph);
    *result = {int(updated.change), updated.node, nullptr};
    return updated.change == GraphExec::Change::none ? Status::success
                                                     : Status::graph_exec_update_failure;
  });
}

INFLIGHT_API int cudaGraphNodeSetEnabled(void* handle, void* node, unsigned enabled) {
  return on_exec(handle, [&](GraphExec& exec) {
    return exec.enable(static_cast<const Node*>(node), enabled != 0);
  });
}

INFLIGHT_API int cudaGraphNodeGetEnabled(void* handle, void* node, unsigned* enabled) {
  return on_exec(handle, [&](GraphExec& exec) {
    auto found = exec.enabled(static_cast<const Node*>(node));
    if (!enabled || !found) return Status::invalid_value;
    *enabled = *found;
    return Status::success;
  });
}

// --- memory of graphs -------------------------------------------------------------------------

INFLIGHT_API int cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  return entry([&] {
    if (!device_exists(device)) return Status::invalid_device;
    return get_graph_memory_attribute(device, attribute, value);
  });
}

INFLIGHT_API int cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  return entry([&] {
    if (!device_exists(device)) return Status::invalid_device;
    return set_graph_memory_attribute(device, attribute, value);
  });
}

INFLIGHT_API int cudaDeviceGraphMemTrim(int device) {
  return entry([&] {
    if (!device_exists(device)) return Status::invalid_device;
    trim_graph_memory(device);
    return Status::success;
  });
}
