// What the files of the runtime's graph entry points share.
#pragma once
#include <optional>
#include <vector>

#include "gpu/cuda/runtime/entry.hpp"

namespace inflight::cuda {

// The nodes of an array of handles, or nothing if one is none.
std::optional<std::vector<Node*>> nodes_of(void* const* handles, std::size_t count);
// What an edge's data says; plain without data. invalid_value where reserved bytes are set.
Result<EdgeKind> edge_kind(const abi::EdgeData* data);

Status instantiate(void** place, const void* graph, unsigned long long flags);

// Where a node is to be added; no graph: nowhere.
struct NodeSite {
  const void* graph = nullptr;
  void* const* dependencies = nullptr;
  std::size_t count = 0;
};

// Work from the parameters of a node; invalid_value where a pointer is null.
Result<Work> work_of(const abi::KernelNode* node);
Result<Work> work_of(const abi::Copy3D* node);
Result<Work> work_of(const abi::FillNode* node);
Result<Work> work_of(const abi::HostNode* node);
// Also writes the address, which depends on where the node is added.
Result<Work> work_of(abi::AllocateNode* node, const NodeSite& site);
Result<Work> work_of(abi::GraphNode* node, const NodeSite& site = {});  // any kind
Result<Work> child_work(const void* graph);
Result<Work> record_work(const void* event);
Result<Work> wait_work(const void* event);
Result<Work> free_work(void* pointer);

// And back.
abi::KernelNode kernel_node(Node& node, const KernelWork& work);
abi::Copy3D copy_node(const Copy& copy);
abi::FillNode fill_node(const Fill& fill);

// Adds, changes, changes in an instantiated graph. Each checks the work first.
Status add_node(void** place, const void* graph, void* const* dependencies, std::size_t count,
                Result<Work> work, const abi::EdgeData* edges = nullptr);
Status set_node(const void* node, Result<Work> work);
Status set_exec_node(const void* exec, const void* node, Result<Work> work);

// For calls that read a node: body(Node&, const T&) if its work is a T.
template <class T, class Body>
int on_node(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        std::lock_guard lock(graph_mutex());
        auto node = node_of(handle);
        auto* work = node ? std::get_if<T>(&node->work) : nullptr;
        return work ? as_status(body(*node, *work)) : Status::invalid_value;
      },
      call);
}

// For calls about a graph: body(Graph&).
template <class Body>
int on_graph(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        std::lock_guard lock(graph_mutex());
        auto graph = Core::get().graphs.find(handle);
        return graph ? as_status(body(*graph)) : Status::invalid_value;
      },
      call);
}

}  // namespace inflight::cuda
