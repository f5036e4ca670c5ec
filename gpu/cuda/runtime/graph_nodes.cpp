// Graph nodes: adding them, reading and changing their parameters.
#include "gpu/cuda/core/calls/copy_nodes.hpp"
#include "gpu/cuda/core/calls/nodes.hpp"
#include "gpu/cuda/core/work/kernels.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

namespace {

// The first parameters of every cudaGraphAdd…Node.
#define NODE_PLACE void **place, void *graph, void *const *dependencies, std::size_t count
#define ADD_NODE(...) \
  entry([&] { return add_node(place, graph, dependencies, count, __VA_ARGS__); })
#define SET_NODE(work) entry([&] { return set_node(node, work); })
#define SET_EXEC(work) entry([&] { return set_exec_node(exec, node, work); })

Result<Work> linear_work(void* to, const void* from, std::size_t bytes, int kind) {
  if (kind < 0 || kind > 4) return fail(Status::invalid_direction);
  return Work(linear(to, from, bytes, Direction(kind)));
}

Result<Work> to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                       int kind) {
  auto to = symbol_range(symbol, current_device().ordinal, bytes, offset);
  if (!to) return tl::unexpected(to.error());
  return linear_work(*to, from, bytes, kind);
}

Result<Work> from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                         int kind) {
  auto from = symbol_range(symbol, current_device().ordinal, bytes, offset);
  if (!from) return tl::unexpected(from.error());
  return linear_work(to, *from, bytes, kind);
}

}  // namespace

INFLIGHT_API int cudaGraphAddNode(void** place, void* graph, void* const* dependencies,
                                  const abi::EdgeData* edges, std::size_t count,
                                  abi::GraphNode* node) {
  return entry([&] {
    return add_node(place, graph, dependencies, count, work_of(node, {graph, dependencies, count}),
                    edges);
  });
}
INFLIGHT_API int cudaGraphNodeSetParams(void* node, abi::GraphNode* parameters) {
  return SET_NODE(work_of(parameters));
}
INFLIGHT_API int cudaGraphExecNodeSetParams(void* exec, void* node, abi::GraphNode* parameters) {
  return SET_EXEC(work_of(parameters));
}

// --- kernels ----------------------------------------------------------------------------------

INFLIGHT_API int cudaGraphAddKernelNode(NODE_PLACE, const abi::KernelNode* parameters) {
  return ADD_NODE(work_of(parameters));
}
INFLIGHT_API int cudaGraphKernelNodeGetParams(void* handle, abi::KernelNode* place) {
  return entry([&] { return get_node(handle, place); });
}

INFLIGHT_API int cudaGraphKernelNodeSetParams(void* node, const abi::KernelNode* parameters) {
  return entry([&] { return set_kernel_node(node, parameters); });
}
INFLIGHT_API int cudaGraphExecKernelNodeSetParams(void* exec, void* node,
                                                  const abi::KernelNode* parameters) {
  return entry([&] { return set_exec_kernel_node(exec, node, parameters); });
}
INFLIGHT_API int cudaGraphKernelNodeGetAttribute(void* handle, int id,
                                                 LaunchAttributeValue* value) {
  return entry([&] { return get_node_attribute(handle, id, value); });
}
INFLIGHT_API int cudaGraphKernelNodeSetAttribute(void* handle, int id,
                                                 const LaunchAttributeValue* value) {
  return entry([&] { return set_node_attribute(handle, id, value); });
}
INFLIGHT_API int cudaGraphKernelNodeCopyAttributes(void* to, void* from) {
  return entry([&] { return copy_node_attributes(to, from); });
}

// --- copies and fills -------------------------------------------------------------------------

INFLIGHT_API int cudaGraphAddMemcpyNode(NODE_PLACE, const abi::Copy3D* parameters) {
  return ADD_NODE(copy_node_work(parameters));
}
INFLIGHT_API int cudaGraphAddMemcpyNode1D(NODE_PLACE, void* to, const void* from, std::size_t bytes,
                                          int kind) {
  return ADD_NODE(linear_work(to, from, bytes, kind));
}
INFLIGHT_API int cudaGraphAddMemcpyNodeToSymbol(NODE_PLACE, const void* symbol, const void* from,
                                                std::size_t bytes, std::size_t offset, int kind) {
  return ADD_NODE(to_symbol(symbol, from, bytes, offset, kind));
}
INFLIGHT_API int cudaGraphAddMemcpyNodeFromSymbol(NODE_PLACE, void* to, const void* symbol,
                                                  std::size_t bytes, std::size_t offset, int kind) {
  return ADD_NODE(from_symbol(to, symbol, bytes, offset, kind));
}
INFLIGHT_API int cudaGraphMemcpyNodeGetParams(void* handle, abi::Copy3D* place) {
  return entry([&] { return get_copy_node(handle, place); });
}
INFLIGHT_API int cudaGraphMemcpyNodeSetParams(void* node, const abi::Copy3D* parameters) {
  return SET_NODE(copy_node_work(parameters));
}
INFLIGHT_API int cudaGraphMemcpyNodeSetParams1D(void* node, void* to, const void* from,
                                                std::size_t bytes, int kind) {
  return SET_NODE(linear_work(to, from, bytes, kind));
}
INFLIGHT_API int cudaGraphMemcpyNodeSetParamsToSymbol(void* node, const void* symbol,
                                                      const void* from, std::size_t bytes,
                                                      std::size_t offset, int kind) {
  return SET_NODE(to_symbol(symbol, from, bytes, offset, kind));
}
INFLIGHT_API int cudaGraphMemcpyNodeSetParamsFromSymbol(void* node, void* to, const void* symbol,
                                                        std::size_t bytes, std::size_t offset,
                                                        int kind) {
  return SET_NODE(from_symbol(to, symbol, bytes, offset, kind));
}
INFLIGHT_API int cudaGraphExecMemcpyNodeSetParams(void* exec, void* node,
                                                  const abi::Copy3D* parameters) {
  return SET_EXEC(copy_node_work(parameters));
}
INFLIGHT_API int cudaGraphExecMemcpyNodeSetParams1D(void* exec, void* node, void* to,
                                                    const void* from, std::size_t bytes, int kind) {
  return SET_EXEC(linear_work(to, from, bytes, kind));
}
INFLIGHT_API int cudaGraphExecMemcpyNodeSetParamsToSymbol(void* exec, void* node,
                                                          const void* symbol, const void* from,
                                                          std::size_t bytes, std::size_t offset,
                                                          int kind) {
  return SET_EXEC(to_symbol(symbol, from, bytes, offset, kind));
}
INFLIGHT_API int cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, void* node, void* to,
                                                            const void* symbol, std::size_t bytes,
                                                            std::size_t offset, int kind) {
  return SET_EXEC(from_symbol(to, symbol, bytes, offset, kind));
}

INFLIGHT_API int cudaGraphAddMemsetNode(NODE_PLACE, const abi::FillNode* parameters) {
  return ADD_NODE(work_of(parameters));
}
INFLIGHT_API int cudaGraphMemsetNodeGetParams(void* handle, abi::FillNode* place) {
  return entry([&] { return get_node(handle, place); });
}
INFLIGHT_API int cudaGraphMemsetNodeSetParams(void* node, const abi::FillNode* parameters) {
  return SET_NODE(work_of(parameters));
}
INFLIGHT_API int cudaGraphExecMemsetNodeSetParams(void* exec, void* node,
                                                  const abi::FillNode* parameters) {
  return SET_EXEC(work_of(parameters));
}

// --- host functions, events, children, empty nodes --------------------------------------------

INFLIGHT_API int cudaGraphAddHostNode(NODE_PLACE, const abi::HostNode* parameters) {
  return ADD_NODE(work_of(parameters));
}
INFLIGHT_API int cudaGraphHostNodeGetParams(void* handle, abi::HostNode* place) {
  return entry([&] { return get_node(handle, place); });
}
INFLIGHT_API int cudaGraphHostNodeSetParams(void* node, const abi::HostNode* parameters) {
  return SET_NODE(work_of(parameters));
}
INFLIGHT_API int cudaGraphExecHostNodeSetParams(void* exec, void* node,
                                                const abi::HostNode* parameters) {
  return SET_EXEC(work_of(parameters));
}

INFLIGHT_API int cudaGraphAddEmptyNode(NODE_PLACE) { return ADD_NODE(Work(EmptyWork{})); }

INFLIGHT_API int cudaGraphAddChildGraphNode(NODE_PLACE, void* child) {
  return ADD_NODE(child_work(child));
}
INFLIGHT_API int cudaGraphChildGraphNodeGetGraph(void* handle, void** place) {
  return entry([&] { return get_child_graph(handle, place); });
}
INFLIGHT_API int cudaGraphExecChildGraphNodeSetParams(void* exec, void* node, void* child) {
  return SET_EXEC(child_work(child));
}

INFLIGHT_API int cudaGraphAddEventRecordNode(NODE_PLACE, void* event) {
  return ADD_NODE(record_work(event));
}
INFLIGHT_API int cudaGraphEventRecordNodeGetEvent(void* handle, void** place) {
  return entry([&] { return get_recorded_event(handle, place); });
}
INFLIGHT_API int cudaGraphEventRecordNodeSetEvent(void* node, void* event) {
  return SET_NODE(record_work(event));
}
INFLIGHT_API int cudaGraphExecEventRecordNodeSetEvent(void* exec, void* node, void* event) {
  return SET_EXEC(record_work(event));
}
INFLIGHT_API int cudaGraphAddEventWaitNode(NODE_PLACE, void* event) {
  return ADD_NODE(wait_work(event));
}
INFLIGHT_API int cudaGraphEventWaitNodeGetEvent(void* handle, void** place) {
  return entry([&] { return get_awaited_event(handle, place); });
}
INFLIGHT_API int cudaGraphEventWaitNodeSetEvent(void* node, void* event) {
  return SET_NODE(wait_work(event));
}
INFLIGHT_API int cudaGraphExecEventWaitNodeSetEvent(void* exec, void* node, void* event) {
  return SET_EXEC(wait_work(event));
}

// --- memory -----------------------------------------------------------------------------------

INFLIGHT_API int cudaGraphAddMemAllocNode(NODE_PLACE, abi::AllocateNode* parameters) {
  return ADD_NODE(work_of(parameters, NodeSite{graph, dependencies, count}));
}
INFLIGHT_API int cudaGraphMemAllocNodeGetParams(void* handle, abi::AllocateNode* place) {
  return entry([&] { return get_node(handle, place); });
}
INFLIGHT_API int cudaGraphAddMemFreeNode(NODE_PLACE, void* pointer) {
  return ADD_NODE(free_work(pointer));
}
INFLIGHT_API int cudaGraphMemFreeNodeGetParams(void* handle, void* place) {
  return entry([&] { return get_freed_pointer(handle, static_cast<void**>(place)); });
}
