// Graph nodes as programs add, read and change them: conversions between handles and parameter
// structures, and work.
#pragma once
#include <optional>
#include <vector>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/graph/graph.hpp"

namespace inflight::cuda {

// The nodes of an array of handles, or nothing if a handle is invalid. Hold graph_mutex() while
// they are used.
std::optional<std::vector<Node*>> nodes_of(void* const* handles, std::size_t count);
// An edge's kind from its data. Without data it is plain (invalid_value: reserved bytes are set).
Result<EdgeKind> edge_kind(const abi::EdgeData* data);

// Where a node will be added. No graph: it is not added.
struct NodeSite {
  const void* graph = nullptr;
  void* const* dependencies = nullptr;
  std::size_t count = 0;
};

// Work from the parameters of a node (invalid_value: a pointer is null).
Result<Work> work_of(const abi::KernelNode* node);
Result<Work> work_of(const abi::FillNode* node);
Result<Work> work_of(const abi::HostNode* node);
// Also writes the address, which depends on where the node is added.
Result<Work> work_of(abi::AllocateNode* node, const NodeSite& site);
Result<Work> work_of(abi::GraphNode* node, const NodeSite& site = {});  // any kind
// Also writes the bodies' handles.
Result<Work> conditional_work(abi::ConditionalNode& node, const NodeSite& site);
Result<Work> child_work(const void* graph);
Result<Work> record_work(const void* event);
Result<Work> wait_work(const void* event);
Result<Work> free_work(void* pointer);

// Adds a node, changes one, and changes one in an instantiated graph. Each checks the work first.
Status add_node(void** place, const void* graph, void* const* dependencies, std::size_t count,
                Result<Work> work, const abi::EdgeData* edges = nullptr);
Status set_node(const void* node, Result<Work> work);
Status set_exec_node(const void* exec, const void* node, Result<Work> work);
// The same for a kernel. Launch attributes that the parameters do not contain stay as they are.
Status set_kernel_node(const void* node, const abi::KernelNode* parameters);
Status set_exec_kernel_node(const void* exec, const void* node, const abi::KernelNode* parameters);

// The parameters of a node (invalid_value: its work is of another kind, or there is no place).
Status get_node(const void* node, abi::KernelNode* place);
Status get_node(const void* node, abi::FillNode* place);
Status get_node(const void* node, abi::HostNode* place);
Status get_node(const void* node, abi::AllocateNode* place);
Status get_node(const void* node, abi::GraphNode* place);  // any kind
Status get_child_graph(const void* node, void** place);
Status get_recorded_event(const void* node, void** place);
Status get_awaited_event(const void* node, void** place);
Status get_freed_pointer(const void* node, void** place);

// Attributes of a kernel node's launch.
using LaunchAttributeValue = abi::LaunchAttribute::Value;
Status get_node_attribute(const void* node, int id, LaunchAttributeValue* value);
Status set_node_attribute(const void* node, int id, const LaunchAttributeValue* value);
Status copy_node_attributes(const void* to, const void* from);

}  // namespace inflight::cuda
