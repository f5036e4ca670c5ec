// Graph nodes: adding them, reading and changing their parameters.
#include "gpu/cuda/runtime/graph.hpp"

using namespace inflight::cuda;

namespace {

// Parameters every cudaGraphAdd…Node begins with.
#define NODE_PLACE void **place, void *graph, void *const *dependencies, std::size_t count
#define ADD_NODE(...) \
  entry([&] { return add_node(place, graph, dependencies, count, __VA_ARGS__); })
#define SET_NODE(work) entry([&] { return set_node(node, work); })
#define SET_EXEC(work) entry([&] { return set_exec_node(exec, node, work); })

template <class T>
Status put(T* place, const T& value) {
  if (!place) return Status::invalid_value;
  *place = value;
  return Status::success;
}

Result<Work> linear_work(void* to, const void* from, std::size_t bytes, int kind) {
  if (kind < 0 || kind > 4) return fail(Status::invalid_direction);
  return Work(linear(to, from, bytes, Direction(kind)));
}

Result<char*> symbol_at(const void* symbol, std::size_t bytes, std::size_t offset) {
  auto found = symbol_of(symbol, current_device().ordinal);
  if (!found) return tl::unexpected(found.error());
  if (offset > found->size || bytes > found->size - offset) return fail(Status::invalid_value);
  return reinterpret_cast<char*>(found->address) + offset;
}

Result<Work> to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                       int kind) {
  auto to = symbol_at(symbol, bytes, offset);
  if (!to) return tl::unexpected(to.error());
  return linear_work(*to, from, bytes, kind);
}

Result<Work> from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                         int kind) {
  auto from = symbol_at(symbol, bytes, offset);
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
  return on_node<KernelWork>(handle, [&](Node& node, const KernelWork& work) {
    return put(place, kernel_node(node, work));
  });
}

namespace {

// The attributes of a launch that its parameters do not say.
Result<Work> keep_attributes(const void* node, Result<Work> after) {
  auto before = node_of(node);
  auto* old = before ? std::get_if<KernelWork>(&before->work) : nullptr;
  auto* fresh = after ? std::get_if<KernelWork>(&*after) : nullptr;
  if (!old || !fresh) return after;
  fresh->cooperative = old->cooperative;
  fresh->programmatic = old->programmatic;
  fresh->priority = old->priority;
  if (fresh->cluster == inflight::machine::Dim3{}) fresh->cluster = old->cluster;
  return after;
}

using Value = abi::LaunchAttribute::Value;

Status read_attribute(const KernelWork& work, int id, Value* value) {
  if (!value || id < 0 || id > abi::launch_nvlink) return Status::invalid_value;
  *value = {};
  if (id == abi::launch_cooperative) value->integer = work.cooperative;
  if (id == abi::launch_programmatic_serialization) value->integer = work.programmatic;
  if (id == abi::launch_priority) value->integer = work.priority;
  if (id == abi::launch_cluster && work.cluster != inflight::machine::Dim3{})
    value->cluster = {work.cluster.x, work.cluster.y, work.cluster.z};
  return Status::success;
}

Status write_attribute(KernelWork& work, int id, const Value* value) {
  if (!value || id < 0 || id > abi::launch_nvlink) return Status::invalid_value;
  if (id == abi::launch_cooperative) work.cooperative = value->integer != 0;
  if (id == abi::launch_programmatic_serialization) work.programmatic = value->integer != 0;
  if (id == abi::launch_priority) work.priority = value->integer;
  if (id == abi::launch_cluster)
    work.cluster = {value->cluster.x, value->cluster.y, value->cluster.z};
  return Status::success;
}

}  // namespace

INFLIGHT_API int cudaGraphKernelNodeSetParams(void* node, const abi::KernelNode* parameters) {
  return SET_NODE(keep_attributes(node, work_of(parameters)));
}
INFLIGHT_API int cudaGraphExecKernelNodeSetParams(void* exec, void* node,
                                                  const abi::KernelNode* parameters) {
  return SET_EXEC(keep_attributes(node, work_of(parameters)));
}
INFLIGHT_API int cudaGraphKernelNodeGetAttribute(void* handle, int id, Value* value) {
  return on_node<KernelWork>(
      handle, [&](Node&, const KernelWork& work) { return read_attribute(work, id, value); });
}
INFLIGHT_API int cudaGraphKernelNodeSetAttribute(void* handle, int id, const Value* value) {
  return on_node<KernelWork>(
      handle, [&](Node&, KernelWork& work) { return write_attribute(work, id, value); });
}
INFLIGHT_API int cudaGraphKernelNodeCopyAttributes(void* to, void* from) {
  return on_node<KernelWork>(from, [&](Node&, const KernelWork& source) {
    auto node = node_of(to);
    auto* target = node ? std::get_if<KernelWork>(&node->work) : nullptr;
    if (!target) return Status::invalid_value;
    target->cooperative = source.cooperative;
    target->priority = source.priority;
    target->cluster = source.cluster;
    return Status::success;
  });
}

// --- copies and fills -------------------------------------------------------------------------

INFLIGHT_API int cudaGraphAddMemcpyNode(NODE_PLACE, const abi::Copy3D* parameters) {
  return ADD_NODE(work_of(parameters));
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
  return on_node<Copy>(handle,
                       [&](Node&, const Copy& copy) { return put(place, copy_node(copy)); });
}
INFLIGHT_API int cudaGraphMemcpyNodeSetParams(void* node, const abi::Copy3D* parameters) {
  return SET_NODE(work_of(parameters));
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
  return SET_EXEC(work_of(parameters));
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
  return on_node<Fill>(handle,
                       [&](Node&, const Fill& fill) { return put(place, fill_node(fill)); });
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
  return on_node<HostWork>(handle, [&](Node&, const HostWork& work) {
    return put(place, abi::HostNode{work.function, work.data});
  });
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
  return on_node<ChildWork>(handle, [&](Node&, const ChildWork& work) {
    if (!place) return Status::invalid_value;
    *place = Core::get().graphs.add(work.graph);
    return Status::success;
  });
}
INFLIGHT_API int cudaGraphExecChildGraphNodeSetParams(void* exec, void* node, void* child) {
  return SET_EXEC(child_work(child));
}

INFLIGHT_API int cudaGraphAddEventRecordNode(NODE_PLACE, void* event) {
  return ADD_NODE(record_work(event));
}
INFLIGHT_API int cudaGraphEventRecordNodeGetEvent(void* handle, void** place) {
  return on_node<RecordWork>(handle, [&](Node&, const RecordWork& work) {
    return put(place, static_cast<void*>(work.event.get()));
  });
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
  return on_node<WaitWork>(handle, [&](Node&, const WaitWork& work) {
    return put(place, static_cast<void*>(work.event.get()));
  });
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
  return on_node<AllocateWork>(handle, [&](Node&, const AllocateWork& work) {
    abi::AllocateNode node{};
    node.pool.allocation_type = 1;
    node.pool.location = {abi::location_device, work.memory->device};
    node.bytes = work.memory->bytes;
    node.pointer = reinterpret_cast<void*>(work.memory->address);
    return put(place, node);
  });
}
INFLIGHT_API int cudaGraphAddMemFreeNode(NODE_PLACE, void* pointer) {
  return ADD_NODE(free_work(pointer));
}
INFLIGHT_API int cudaGraphMemFreeNodeGetParams(void* handle, void* place) {
  return on_node<FreeWork>(handle, [&](Node&, const FreeWork& work) {
    return put(static_cast<void**>(place), reinterpret_cast<void*>(work.address));
  });
}
