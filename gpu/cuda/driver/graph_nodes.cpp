// Driver API: the nodes of graphs.
#include "gpu/cuda/driver/copy.hpp"
#include "gpu/cuda/driver/forward.hpp"

namespace inflight::cuda::driver {
namespace {

// CUDA_KERNEL_NODE_PARAMS of CUDA 12 and later: a function, or a kernel and a context.
struct KernelNode {
  abi::KernelNode node;
  Handle kernel, context;
};

// Where a node is made: in the context that its parameters name, else in its function's.
Context* of_node(const KernelNode* node) {
  if (!node) return of_any();
  Context* named = context_of(node->context, false);
  return named ? named : of_function(node->node.function);
}
Context* of_node(const abi::KernelNode* node) {
  return node ? of_function(node->function) : of_any();
}
Context* of_context(Handle handle) {
  Context* named = context_of(handle, false);
  return named ? named : of_any();
}

abi::KernelNode plain(const KernelNode& node) {
  abi::KernelNode result = node.node;
  if (!result.function) result.function = node.kernel;
  return result;
}

// The runtime's structure for the same copy.
Result<abi::Copy3D> runtime_copy(const Copy3D* box) {
  if (!box) return fail(Status::invalid_value);
  auto copy = box_of(*box);
  if (!copy) return tl::unexpected(copy.error());
  abi::Copy3D result{};
  result.from = {const_cast<void*>(copy->from), copy->from_pitch, copy->width, copy->from_rows};
  result.to = {copy->to, copy->to_pitch, copy->width, copy->to_rows};
  result.extent = {copy->width, copy->height, copy->depth};
  result.kind = int(Direction::by_address);
  return result;
}

void driver_copy(const abi::Copy3D& from, Copy3D& to) {
  to = {};
  to.from = {from.from_position.x,
             from.from_position.y,
             from.from_position.z,
             0,
             MemoryType::unified,
             nullptr,
             address(from.from.pointer),
             nullptr,
             nullptr,
             from.from.pitch,
             from.from.height};
  to.to = {from.to_position.x,
           from.to_position.y,
           from.to_position.z,
           0,
           MemoryType::unified,
           nullptr,
           address(from.to.pointer),
           nullptr,
           nullptr,
           from.to.pitch,
           from.to.height};
  to.width = from.extent.width;
  to.height = from.extent.height;
  to.depth = from.extent.depth;
}

template <class Call>
Status with_copy(const Copy3D* box, Call&& call) {
  auto copy = runtime_copy(box);
  return copy ? runtime(call(&*copy)) : tell(copy);
}

template <class Call>
Status with_kernel(const KernelNode* node, Call&& call) {
  if (!node) return Status::invalid_value;
  abi::KernelNode parameters = plain(*node);
  return runtime(call(&parameters));
}

// CUgraphNodeParams where it differs from the runtime's: kernels and copies.
struct CopyNode {  // CUDA_MEMCPY_NODE_PARAMS
  int flags, reserved;
  Handle context;
  Copy3D copy;
};
struct GraphNode {
  int type;
  int reserved[3];
  union {
    KernelNode kernel;
    CopyNode copy;
    long long words[29];
  };
  long long reserved_end;
};
static_assert(sizeof(GraphNode) == sizeof(abi::GraphNode));

// Calls the runtime with its own form of `node`. Other kinds are the same in both, and are passed
// as they are, since the runtime answers through some.
template <class Call>
Status with_node(GraphNode* node, Call&& call) {
  if (!node) return Status::invalid_value;
  abi::GraphNode changed{};
  changed.type = node->type;
  if (node->type == abi::node_kernel) {
    changed.kernel = plain(node->kernel);
    return runtime(call(&changed));
  }
  if (node->type != abi::node_copy) return runtime(call(reinterpret_cast<abi::GraphNode*>(node)));
  auto copy = runtime_copy(&node->copy.copy);
  if (!copy) return tell(copy);
  changed.copy.copy = *copy;
  return runtime(call(&changed));
}

}  // namespace

// How every cuGraphAdd*Node begins: where the node goes, its graph and what it waits for.
#define NODE_PLACE Handle *node, Handle graph, const Handle *after, std::size_t count
#define NODE_ARGUMENTS node, graph, after, count
#define INFLIGHT_ADD_NODE(cu, cuda, Parameters)                     \
  extern "C" int cuda(NODE_PLACE, Parameters);                      \
  INFLIGHT_CU_AT(of_any(), cu, (NODE_PLACE, Parameters parameters), \
                 { return runtime(cuda(NODE_ARGUMENTS, parameters)); })

extern "C" {
int cudaGraphAddEmptyNode(NODE_PLACE);
int cudaGraphAddKernelNode(NODE_PLACE, const abi::KernelNode*);
int cudaGraphKernelNodeSetParams(Handle, const abi::KernelNode*);
int cudaGraphExecKernelNodeSetParams(Handle exec, Handle, const abi::KernelNode*);
int cudaGraphAddMemcpyNode(NODE_PLACE, const abi::Copy3D*);
int cudaGraphMemcpyNodeGetParams(Handle, abi::Copy3D*);
int cudaGraphMemcpyNodeSetParams(Handle, const abi::Copy3D*);
int cudaGraphExecMemcpyNodeSetParams(Handle exec, Handle, const abi::Copy3D*);
int cudaGraphAddMemsetNode(NODE_PLACE, const abi::FillNode*);
int cudaGraphExecMemsetNodeSetParams(Handle exec, Handle, const abi::FillNode*);
int cudaGraphAddMemFreeNode(NODE_PLACE, void*);
int cudaGraphAddNode(Handle*, Handle graph, const Handle*, const abi::EdgeData*, std::size_t,
                     abi::GraphNode*);
int cudaGraphNodeSetParams(Handle, abi::GraphNode*);
int cudaGraphExecNodeSetParams(Handle exec, Handle, abi::GraphNode*);
}

// --- any kind ---

INFLIGHT_CU_AT(of_any(), cuGraphAddNode, (NODE_PLACE, GraphNode* parameters), {
  return with_node(parameters, [&](abi::GraphNode* p) {
    return cudaGraphAddNode(node, graph, after, nullptr, count, p);
  });
})
INFLIGHT_CU_AT(of_any(), cuGraphAddNode_v2,
               (Handle * node, Handle graph, const Handle* after, const abi::EdgeData* edges,
                std::size_t count, GraphNode* parameters),
               {
                 return with_node(parameters, [&](abi::GraphNode* p) {
                   return cudaGraphAddNode(node, graph, after, edges, count, p);
                 });
               })
INFLIGHT_CU_AT(of_any(), cuGraphNodeSetParams, (Handle node, GraphNode* parameters), {
  return with_node(parameters, [&](abi::GraphNode* p) { return cudaGraphNodeSetParams(node, p); });
})
INFLIGHT_CU_AT(of_any(), cuGraphExecNodeSetParams,
               (Handle exec, Handle node, GraphNode* parameters), {
                 return with_node(parameters, [&](abi::GraphNode* p) {
                   return cudaGraphExecNodeSetParams(exec, node, p);
                 });
               })

INFLIGHT_CU_AT(of_any(), cuGraphAddEmptyNode, (NODE_PLACE),
               { return runtime(cudaGraphAddEmptyNode(NODE_ARGUMENTS)); })

// --- kernels ---

INFLIGHT_CU_AT(of_node(parameters), cuGraphAddKernelNode,
               (NODE_PLACE, const abi::KernelNode* parameters),
               { return runtime(cudaGraphAddKernelNode(NODE_ARGUMENTS, parameters)); })
INFLIGHT_CU_AT(of_node(parameters), cuGraphAddKernelNode_v2,
               (NODE_PLACE, const KernelNode* parameters), {
                 return with_kernel(parameters, [&](const abi::KernelNode* p) {
                   return cudaGraphAddKernelNode(NODE_ARGUMENTS, p);
                 });
               })
INFLIGHT_FORWARD_2(cuGraphKernelNodeGetParams, cudaGraphKernelNodeGetParams, Handle,
                   abi::KernelNode*)
INFLIGHT_CU_AT(of_any(), cuGraphKernelNodeGetParams_v2, (Handle node, KernelNode* parameters), {
  if (!parameters) return Status::invalid_value;
  parameters->kernel = nullptr;
  parameters->context = current_context();
  return runtime(cudaGraphKernelNodeGetParams(node, &parameters->node));
})
INFLIGHT_CU_AT(of_node(parameters), cuGraphKernelNodeSetParams,
               (Handle node, const abi::KernelNode* parameters),
               { return runtime(cudaGraphKernelNodeSetParams(node, parameters)); })
INFLIGHT_CU_AT(of_node(parameters), cuGraphKernelNodeSetParams_v2,
               (Handle node, const KernelNode* parameters), {
                 return with_kernel(parameters, [&](const abi::KernelNode* p) {
                   return cudaGraphKernelNodeSetParams(node, p);
                 });
               })
INFLIGHT_CU_AT(of_node(parameters), cuGraphExecKernelNodeSetParams,
               (Handle exec, Handle node, const abi::KernelNode* parameters),
               { return runtime(cudaGraphExecKernelNodeSetParams(exec, node, parameters)); })
INFLIGHT_CU_AT(of_node(parameters), cuGraphExecKernelNodeSetParams_v2,
               (Handle exec, Handle node, const KernelNode* parameters), {
                 return with_kernel(parameters, [&](const abi::KernelNode* p) {
                   return cudaGraphExecKernelNodeSetParams(exec, node, p);
                 });
               })
INFLIGHT_FORWARD_3(cuGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute, Handle, int,
                   void*)
INFLIGHT_FORWARD_3(cuGraphKernelNodeSetAttribute, cudaGraphKernelNodeSetAttribute, Handle, int,
                   const void*)
INFLIGHT_FORWARD_2(cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes, Handle,
                   Handle)

// --- copies and fills ---

INFLIGHT_CU_AT(of_context(context), cuGraphAddMemcpyNode,
               (NODE_PLACE, const Copy3D* box, Handle context), {
                 return with_copy(box, [&](const abi::Copy3D* c) {
                   return cudaGraphAddMemcpyNode(NODE_ARGUMENTS, c);
                 });
               })
INFLIGHT_CU_AT(of_any(), cuGraphMemcpyNodeGetParams, (Handle node, Copy3D* box), {
  abi::Copy3D copy{};
  if (!box) return Status::invalid_value;
  Status status = runtime(cudaGraphMemcpyNodeGetParams(node, &copy));
  if (status == Status::success) driver_copy(copy, *box);
  return status;
})
INFLIGHT_CU_AT(of_any(), cuGraphMemcpyNodeSetParams, (Handle node, const Copy3D* box), {
  return with_copy(box,
                   [&](const abi::Copy3D* c) { return cudaGraphMemcpyNodeSetParams(node, c); });
})
INFLIGHT_CU_AT(of_context(context), cuGraphExecMemcpyNodeSetParams,
               (Handle exec, Handle node, const Copy3D* box, Handle context), {
                 return with_copy(box, [&](const abi::Copy3D* c) {
                   return cudaGraphExecMemcpyNodeSetParams(exec, node, c);
                 });
               })
INFLIGHT_CU_AT(of_context(context), cuGraphAddMemsetNode,
               (NODE_PLACE, const abi::FillNode* parameters, Handle context),
               { return runtime(cudaGraphAddMemsetNode(NODE_ARGUMENTS, parameters)); })
INFLIGHT_FORWARD_2(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams, Handle, abi::FillNode*)
INFLIGHT_FORWARD_2(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams, Handle,
                   const abi::FillNode*)
INFLIGHT_CU_AT(of_context(context), cuGraphExecMemsetNodeSetParams,
               (Handle exec, Handle node, const abi::FillNode* parameters, Handle context),
               { return runtime(cudaGraphExecMemsetNodeSetParams(exec, node, parameters)); })

// --- host functions, children, events ---

INFLIGHT_ADD_NODE(cuGraphAddHostNode, cudaGraphAddHostNode, const abi::HostNode*)
INFLIGHT_FORWARD_2(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams, Handle, abi::HostNode*)
INFLIGHT_FORWARD_2(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams, Handle,
                   const abi::HostNode*)
INFLIGHT_FORWARD_3(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams, Handle, Handle,
                   const abi::HostNode*)
INFLIGHT_ADD_NODE(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode, Handle)
INFLIGHT_FORWARD_2(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph, Handle, Handle*)
INFLIGHT_FORWARD_3(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams, Handle,
                   Handle, Handle)
INFLIGHT_ADD_NODE(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode, Handle)
INFLIGHT_FORWARD_2(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent, Handle,
                   Handle*)
INFLIGHT_FORWARD_2(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent, Handle, Handle)
INFLIGHT_FORWARD_3(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent, Handle,
                   Handle, Handle)
INFLIGHT_ADD_NODE(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode, Handle)
INFLIGHT_FORWARD_2(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent, Handle, Handle*)
INFLIGHT_FORWARD_2(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent, Handle, Handle)
INFLIGHT_FORWARD_3(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent, Handle,
                   Handle, Handle)

// --- memory ---

INFLIGHT_ADD_NODE(cuGraphAddMemAllocNode, cudaGraphAddMemAllocNode, abi::AllocateNode*)
INFLIGHT_FORWARD_2(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams, Handle,
                   abi::AllocateNode*)
INFLIGHT_CU_AT(of_any(), cuGraphAddMemFreeNode, (NODE_PLACE, DevicePointer memory),
               { return runtime(cudaGraphAddMemFreeNode(NODE_ARGUMENTS, pointer(memory))); })
INFLIGHT_FORWARD_2(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams, Handle, void*)

}  // namespace inflight::cuda::driver
