// Driver API: the nodes of graphs.
#include "gpu/cuda/core/calls/nodes.hpp"
#include "gpu/cuda/core/calls/value_nodes.hpp"
#include "gpu/cuda/driver/copy.hpp"
#include "gpu/cuda/driver/forward.hpp"

namespace inflight::cuda::driver {
namespace {

// CUDA_KERNEL_NODE_PARAMS of CUDA 12 and later: a function, or a kernel and a context.
struct KernelNode {
  abi::KernelNode node;
  Handle kernel, context;
};

// The context of a new node: the one in its parameters, else its function's.
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

Result<Work> work_of(const KernelNode* node) {
  if (!node) return fail(Status::invalid_value);
  const abi::KernelNode parameters = plain(*node);
  const ScopedContext scope(context_of(node->context, false));
  return cuda::work_of(&parameters);
}

// The parts of CUgraphNodeParams that differ from the runtime's.
struct CopyNode {  // CUDA_MEMCPY_NODE_PARAMS
  int flags, reserved;
  Handle context;
  Copy3D copy;
};
struct FillNode {  // CUDA_MEMSET_NODE_PARAMS_v2
  abi::FillNode node;
  Handle context;
};
struct ConditionalNode {  // CUDA_CONDITIONAL_NODE_PARAMS
  abi::ConditionalNode node;
  Handle context;
};
struct GraphNode {
  int type;
  int reserved[3];
  union {
    KernelNode kernel;
    CopyNode copy;
    FillNode fill;
    ConditionalNode conditional;
    ValueNode values;
    long long words[29];
  };
  long long reserved_end;
};
static_assert(sizeof(GraphNode) == sizeof(abi::GraphNode));

// Other kinds are the same in both APIs. They are passed on unchanged, because some calls write
// results to them.
Result<Work> work_of(GraphNode* node, const NodeSite& site = {}) {
  if (!node) return fail(Status::invalid_value);
  if (node->type == abi::node_kernel) return work_of(&node->kernel);
  if (node->type == abi::node_copy) return work_of(&node->copy.copy);
  if (node->type == abi::node_batch) return value_node_work(&node->values);
  return cuda::work_of(reinterpret_cast<abi::GraphNode*>(node), site);
}

Status get_any_node(Handle handle, GraphNode* place) {
  const Status status = cuda::get_node(handle, reinterpret_cast<abi::GraphNode*>(place));
  if (status != Status::success) return status;
  switch (place->type) {
    case abi::node_kernel:
      place->kernel.context = current_context();
      return status;
    case abi::node_copy:
      place->copy = {0, 0, current_context(), {}};
      return get_copy_node(handle, &place->copy.copy);
    case abi::node_fill:
      place->fill.context = current_context();
      return status;
    case abi::node_conditional:
      place->conditional.context = current_context();
      return status;
    case abi::node_batch:
      return get_value_node(handle, &place->values);
    default:
      return status;
  }
}

}  // namespace

// The first parameters of every cuGraphAdd*Node: the place for the node, its graph and its
// dependencies.
#define NODE_PLACE Handle *node, Handle graph, const Handle *after, std::size_t count
#define NODE_ARGUMENTS node, graph, after, count
#define ADD_NODE(...) add_node(NODE_ARGUMENTS, __VA_ARGS__)

// --- any kind ---

INFLIGHT_CU_AT(of_any(), cuGraphAddNode, (NODE_PLACE, GraphNode* parameters), {
  return ADD_NODE(work_of(parameters, {graph, after, count}));
})
INFLIGHT_CU_AT(of_any(), cuGraphAddNode_v2,
               (Handle * node, Handle graph, const Handle* after, const abi::EdgeData* edges,
                std::size_t count, GraphNode* parameters),
               {
                 return ADD_NODE(work_of(parameters, {graph, after, count}), edges);
               })
INFLIGHT_CU_AT(of_any(), cuGraphNodeSetParams, (Handle node, GraphNode* parameters),
               { return set_node(node, work_of(parameters)); })
INFLIGHT_FORWARD_2(cuGraphNodeGetParams, get_any_node, Handle, GraphNode*)
INFLIGHT_CU_AT(of_any(), cuGraphExecNodeSetParams,
               (Handle exec, Handle node, GraphNode* parameters),
               { return set_exec_node(exec, node, work_of(parameters)); })

INFLIGHT_CU_AT(of_any(), cuGraphAddEmptyNode, (NODE_PLACE), { return ADD_NODE(Work(EmptyWork{})); })

// --- kernels ---

INFLIGHT_CU_AT(of_node(parameters), cuGraphAddKernelNode,
               (NODE_PLACE, const abi::KernelNode* parameters),
               { return ADD_NODE(cuda::work_of(parameters)); })
INFLIGHT_CU_AT(of_node(parameters), cuGraphAddKernelNode_v2,
               (NODE_PLACE, const KernelNode* parameters),
               { return ADD_NODE(work_of(parameters)); })
INFLIGHT_FORWARD_2(cuGraphKernelNodeGetParams, get_node, Handle, abi::KernelNode*)
INFLIGHT_CU_AT(of_any(), cuGraphKernelNodeGetParams_v2, (Handle node, KernelNode* parameters), {
  if (!parameters) return Status::invalid_value;
  parameters->kernel = nullptr;
  parameters->context = current_context();
  return get_node(node, &parameters->node);
})
INFLIGHT_CU_AT(of_node(parameters), cuGraphKernelNodeSetParams,
               (Handle node, const abi::KernelNode* parameters),
               { return set_kernel_node(node, parameters); })
INFLIGHT_CU_AT(of_node(parameters), cuGraphKernelNodeSetParams_v2,
               (Handle node, const KernelNode* parameters), {
                 if (!parameters) return Status::invalid_value;
                 const abi::KernelNode kernel = plain(*parameters);
                 return set_kernel_node(node, &kernel);
               })
INFLIGHT_CU_AT(of_node(parameters), cuGraphExecKernelNodeSetParams,
               (Handle exec, Handle node, const abi::KernelNode* parameters),
               { return set_exec_kernel_node(exec, node, parameters); })
INFLIGHT_CU_AT(of_node(parameters), cuGraphExecKernelNodeSetParams_v2,
               (Handle exec, Handle node, const KernelNode* parameters), {
                 if (!parameters) return Status::invalid_value;
                 const abi::KernelNode kernel = plain(*parameters);
                 return set_exec_kernel_node(exec, node, &kernel);
               })
INFLIGHT_FORWARD_3(cuGraphKernelNodeGetAttribute, get_node_attribute, Handle, int,
                   LaunchAttributeValue*)
INFLIGHT_FORWARD_3(cuGraphKernelNodeSetAttribute, set_node_attribute, Handle, int,
                   const LaunchAttributeValue*)
INFLIGHT_FORWARD_2(cuGraphKernelNodeCopyAttributes, copy_node_attributes, Handle, Handle)

// --- copies and fills ---

INFLIGHT_CU_AT(of_context(context), cuGraphAddMemcpyNode,
               (NODE_PLACE, const Copy3D* box, Handle context), { return ADD_NODE(work_of(box)); })
INFLIGHT_FORWARD_2(cuGraphMemcpyNodeGetParams, get_copy_node, Handle, Copy3D*)
INFLIGHT_CU_AT(of_any(), cuGraphMemcpyNodeSetParams, (Handle node, const Copy3D* box),
               { return set_node(node, work_of(box)); })
INFLIGHT_CU_AT(of_context(context), cuGraphExecMemcpyNodeSetParams,
               (Handle exec, Handle node, const Copy3D* box, Handle context),
               { return set_exec_node(exec, node, work_of(box)); })
INFLIGHT_CU_AT(of_context(context), cuGraphAddMemsetNode,
               (NODE_PLACE, const abi::FillNode* parameters, Handle context),
               { return ADD_NODE(cuda::work_of(parameters)); })
INFLIGHT_FORWARD_2(cuGraphMemsetNodeGetParams, get_node, Handle, abi::FillNode*)
INFLIGHT_CU_AT(of_any(), cuGraphMemsetNodeSetParams, (Handle node, const abi::FillNode* parameters),
               { return set_node(node, cuda::work_of(parameters)); })
INFLIGHT_CU_AT(of_context(context), cuGraphExecMemsetNodeSetParams,
               (Handle exec, Handle node, const abi::FillNode* parameters, Handle context),
               { return set_exec_node(exec, node, cuda::work_of(parameters)); })

// --- host functions, children, events ---

// Defines the calls that add a kind of node, and that change it in an executable graph and in a
// graph. `work` makes work from the parameters.
#define INFLIGHT_NODE(add, set_exec, Parameters, work)                                  \
  INFLIGHT_CU_AT(of_any(), add, (NODE_PLACE, Parameters parameters),                    \
                 { return ADD_NODE(work(parameters)); })                                \
  INFLIGHT_CU_AT(of_any(), set_exec, (Handle exec, Handle node, Parameters parameters), \
                 { return set_exec_node(exec, node, work(parameters)); })
#define INFLIGHT_SET_NODE(set, Parameters, work)                      \
  INFLIGHT_CU_AT(of_any(), set, (Handle node, Parameters parameters), \
                 { return set_node(node, work(parameters)); })

INFLIGHT_NODE(cuGraphAddHostNode, cuGraphExecHostNodeSetParams, const abi::HostNode*, cuda::work_of)
INFLIGHT_SET_NODE(cuGraphHostNodeSetParams, const abi::HostNode*, cuda::work_of)
INFLIGHT_FORWARD_2(cuGraphHostNodeGetParams, get_node, Handle, abi::HostNode*)
INFLIGHT_NODE(cuGraphAddChildGraphNode, cuGraphExecChildGraphNodeSetParams, Handle, child_work)
INFLIGHT_FORWARD_2(cuGraphChildGraphNodeGetGraph, get_child_graph, Handle, Handle*)
INFLIGHT_NODE(cuGraphAddEventRecordNode, cuGraphExecEventRecordNodeSetEvent, Handle, record_work)
INFLIGHT_SET_NODE(cuGraphEventRecordNodeSetEvent, Handle, record_work)
INFLIGHT_FORWARD_2(cuGraphEventRecordNodeGetEvent, get_recorded_event, Handle, Handle*)
INFLIGHT_NODE(cuGraphAddEventWaitNode, cuGraphExecEventWaitNodeSetEvent, Handle, wait_work)
INFLIGHT_SET_NODE(cuGraphEventWaitNodeSetEvent, Handle, wait_work)
INFLIGHT_FORWARD_2(cuGraphEventWaitNodeGetEvent, get_awaited_event, Handle, Handle*)

// --- values in memory ---

INFLIGHT_NODE(cuGraphAddBatchMemOpNode, cuGraphExecBatchMemOpNodeSetParams, const ValueNode*,
              value_node_work)
INFLIGHT_SET_NODE(cuGraphBatchMemOpNodeSetParams, const ValueNode*, value_node_work)
INFLIGHT_FORWARD_2(cuGraphBatchMemOpNodeGetParams, get_value_node, Handle, ValueNode*)

// --- memory ---

INFLIGHT_CU_AT(of_any(), cuGraphAddMemAllocNode, (NODE_PLACE, abi::AllocateNode* parameters), {
  return ADD_NODE(cuda::work_of(parameters, NodeSite{graph, after, count}));
})
INFLIGHT_FORWARD_2(cuGraphMemAllocNodeGetParams, get_node, Handle, abi::AllocateNode*)
INFLIGHT_CU_AT(of_any(), cuGraphAddMemFreeNode, (NODE_PLACE, DevicePointer memory),
               { return ADD_NODE(free_work(pointer(memory))); })
INFLIGHT_CU_AT(of_any(), cuGraphMemFreeNodeGetParams, (Handle node, void* place),
               { return get_freed_pointer(node, static_cast<void**>(place)); })

}  // namespace inflight::cuda::driver
