// Graphs: building, reading, cloning, instantiating.
#include "gpu/cuda/core/calls/graphs.hpp"
#include "gpu/cuda/core/graph/conditional.hpp"
#include "gpu/cuda/core/graph/graph_memory.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

INFLIGHT_API int cudaGraphCreate(void** place, unsigned flags) {
  return entry([&] { return create_graph(place, flags); });
}

INFLIGHT_API int cudaGraphConditionalHandleCreate(std::uint64_t* place, void* graph, unsigned value,
                                                  unsigned flags) {
  return entry([&] { return make_condition(place, graph, value, flags); });
}

INFLIGHT_API int cudaGraphDestroy(void* graph) {
  return entry([&] { return destroy_graph(graph); });
}

INFLIGHT_API int cudaGraphClone(void** place, void* graph) {
  return entry([&] { return clone_graph(place, graph); });
}

INFLIGHT_API int cudaGraphNodeFindInClone(void** place, void* original, void* clone) {
  return entry([&] { return find_in_clone(place, original, clone); });
}

INFLIGHT_API int cudaGraphGetNodes(void* graph, void** place, std::size_t* count) {
  return entry([&] { return get_nodes(graph, place, count); });
}

INFLIGHT_API int cudaGraphGetRootNodes(void* graph, void** place, std::size_t* count) {
  return entry([&] { return get_root_nodes(graph, place, count); });
}

INFLIGHT_API int cudaGraphGetEdges(void* graph, void** from, void** to, abi::EdgeData* data,
                                   std::size_t* count) {
  return entry([&] { return get_edges(graph, from, to, data, count); });
}

INFLIGHT_API int cudaGraphNodeGetType(void* node, int* type) {
  return entry([&] { return get_node_type(node, type); });
}

INFLIGHT_API int cudaGraphNodeGetDependencies(void* node, void** place, abi::EdgeData* data,
                                              std::size_t* count) {
  return entry([&] { return get_dependencies(node, place, data, count); });
}

INFLIGHT_API int cudaGraphNodeGetDependentNodes(void* node, void** place, abi::EdgeData* data,
                                                std::size_t* count) {
  return entry([&] { return get_dependents(node, place, data, count); });
}

INFLIGHT_API int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to,
                                          const abi::EdgeData* data, std::size_t count) {
  return entry([&] { return add_dependencies(graph, from, to, data, count); });
}

INFLIGHT_API int cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to,
                                             const abi::EdgeData* data, std::size_t count) {
  return entry([&] { return remove_dependencies(graph, from, to, data, count); });
}

INFLIGHT_API int cudaGraphDestroyNode(void* node) {
  return entry([&] { return destroy_node(node); });
}

INFLIGHT_API int cudaGraphDebugDotPrint(void* graph, const char* path, unsigned flags) {
  return entry([&] { return print_graph(graph, path, flags); });
}

// --- instantiated graphs ----------------------------------------------------------------------

INFLIGHT_API int cudaGraphInstantiate(void** place, void* graph, unsigned long long flags) {
  return entry([&] { return instantiate(place, graph, flags); });
}

INFLIGHT_API int cudaGraphInstantiateWithFlags(void** place, void* graph,
                                               unsigned long long flags) {
  return entry([&] { return instantiate(place, graph, flags); });
}

INFLIGHT_API int cudaGraphExecDestroy(void* exec) {
  return entry([&] { return destroy_exec(exec); });
}

INFLIGHT_API int cudaGraphExecGetFlags(void* exec, unsigned long long* flags) {
  return entry([&] { return get_exec_flags(exec, flags); });
}

INFLIGHT_API int cudaGraphExecUpdate(void* exec, void* graph, abi::UpdateResult* result) {
  return entry([&] { return update_exec(exec, graph, result); });
}

INFLIGHT_API int cudaGraphNodeSetEnabled(void* exec, void* node, unsigned enabled) {
  return entry([&] { return set_enabled(exec, node, enabled); });
}

INFLIGHT_API int cudaGraphNodeGetEnabled(void* exec, void* node, unsigned* enabled) {
  return entry([&] { return get_enabled(exec, node, enabled); });
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
