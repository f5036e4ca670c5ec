// Work from the parameters that programs give graph nodes, and back.
#include "gpu/cuda/core/stream/launch.hpp"
#include "gpu/cuda/runtime/graph.hpp"

namespace inflight::cuda {
namespace {

Result<std::shared_ptr<Event>> event_of(const void* handle) {
  auto event = Core::get().events.find(handle);
  if (!event) return fail(Status::invalid_handle);
  return event;
}

machine::Dim3 dim3_of(const abi::Dim3& d) { return {d.x, d.y, d.z}; }

Result<Work> checked(Result<Work> work) {
  if (!work) return work;
  if (Status status = check(*work, current_device()); status != Status::success)
    return fail(status);
  return work;
}

}  // namespace

std::optional<std::vector<Node*>> nodes_of(void* const* handles, std::size_t count) {
  if (count && !handles) return std::nullopt;
  std::vector<Node*> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    auto node = node_of(handles[i]);
    if (!node) return std::nullopt;
    nodes.push_back(node.get());
  }
  return nodes;
}

Result<Work> work_of(const abi::KernelNode* node) {
  if (!node || (node->arguments && node->extra)) return fail(Status::invalid_value);
  auto work = kernel_work(current_device(), node->function, dim3_of(node->grid),
                          dim3_of(node->block), node->arguments, node->extra, node->dynamic_shared);
  if (!work) return tl::unexpected(work.error());
  return Work(std::move(*work));
}

Result<Work> work_of(const abi::Copy3D* node) {
  if (!node) return fail(Status::invalid_value);
  if (node->from_array || node->to_array) {
    say_once("arrays", "CUDA arrays are not supported; use linear or pitched memory.");
    return fail(Status::not_supported);
  }
  return Work(copy_of(*node));
}

Result<Work> work_of(const abi::FillNode* node) {
  if (!node) return fail(Status::invalid_value);
  return Work(Fill{.to = node->to,
                   .value = node->value,
                   .element = node->element,
                   .width = node->width,
                   .height = node->height,
                   .depth = 1,
                   .pitch = node->pitch,
                   .rows = node->height});
}

Result<Work> work_of(const abi::HostNode* node) {
  if (!node) return fail(Status::invalid_value);
  return Work(HostWork{node->function, node->data});
}

Result<Work> work_of(abi::AllocateNode* node, const NodeSite& site) {
  if (!node || node->bytes == 0 || node->pool.location.type != abi::location_device)
    return fail(Status::invalid_value);
  if (!device_exists(node->pool.location.id)) return fail(Status::invalid_device);
  std::lock_guard lock(graph_mutex());
  auto graph = Core::get().graphs.find(site.graph);
  auto after = nodes_of(site.dependencies, site.count);
  if (!graph || !after) return fail(Status::invalid_value);
  auto memory = GraphMemory::make(*graph, *after, node->pool.location.id, node->bytes);
  node->pointer = reinterpret_cast<void*>(memory->address);
  return Work(AllocateWork{memory});
}

Result<Work> child_work(const void* handle) {
  std::lock_guard lock(graph_mutex());
  auto graph = Core::get().graphs.find(handle);
  if (!graph) return fail(Status::invalid_value);
  auto copy = graph->clone();
  copy->embedded = true;
  return Work(ChildWork{copy});
}

Result<Work> record_work(const void* handle) {
  auto event = event_of(handle);
  if (!event) return tl::unexpected(event.error());
  return Work(RecordWork{*event});
}

Result<Work> wait_work(const void* handle) {
  auto event = event_of(handle);
  if (!event) return tl::unexpected(event.error());
  return Work(WaitWork{*event});
}

Result<Work> free_work(void* pointer) {
  auto memory = GraphMemory::find(reinterpret_cast<std::uint64_t>(pointer));
  if (!memory) return fail(Status::invalid_value);
  return Work(FreeWork{memory, memory->address});
}

Result<Work> work_of(abi::GraphNode* node, const NodeSite& site) {
  if (!node) return fail(Status::invalid_value);
  switch (node->type) {
    case abi::node_kernel:
      return work_of(&node->kernel);
    case abi::node_copy:
      return work_of(&node->copy.copy);
    case abi::node_fill:
      return work_of(&node->fill);
    case abi::node_host:
      return work_of(&node->host);
    case abi::node_graph:
      return child_work(node->graph);
    case abi::node_empty:
      return Work(EmptyWork{});
    case abi::node_wait:
      return wait_work(node->event);
    case abi::node_record:
      return record_work(node->event);
    case abi::node_allocate:
      return work_of(&node->allocate, site);
    case abi::node_free:
      return free_work(node->freed);
    case abi::node_semaphore_signal:
    case abi::node_semaphore_wait:
    case abi::node_conditional:
      say_once("graph node " + std::to_string(node->type),
               node->type == abi::node_conditional
                   ? "conditional graph nodes are not supported; launch from the host instead."
                   : "graph nodes for semaphores of other APIs are not supported.");
      return fail(Status::not_supported);
    default:
      return fail(Status::invalid_value);
  }
}

abi::KernelNode kernel_node(Node& node, const KernelWork& work) {
  return {const_cast<void*>(work.host),
          {work.grid.x, work.grid.y, work.grid.z},
          {work.block.x, work.block.y, work.block.z},
          work.dynamic_shared,
          node.arguments.data(),
          nullptr};
}

abi::Copy3D copy_node(const Copy& copy) {
  abi::Copy3D result{};
  result.from = {const_cast<void*>(copy.from), copy.from_pitch, copy.width, copy.from_rows};
  result.to = {copy.to, copy.to_pitch, copy.width, copy.to_rows};
  result.extent = {copy.width, copy.height, copy.depth};
  result.kind = int(copy.direction);
  return result;
}

abi::FillNode fill_node(const Fill& fill) {
  return {fill.to, fill.pitch, fill.value, fill.element, fill.width, fill.height};
}

Result<EdgeKind> edge_kind(const abi::EdgeData* data) {
  if (!data) return EdgeKind{};
  for (unsigned char byte : data->reserved)
    if (byte != 0) return fail(Status::invalid_value);
  return EdgeKind{data->from_port, data->to_port, data->type};
}

namespace {

Status connect(Graph& graph, Node* node, const std::vector<Node*>& dependencies,
               const abi::EdgeData* edges) {
  for (std::size_t i = 0; i < dependencies.size(); ++i) {
    const auto kind = edge_kind(edges ? edges + i : nullptr);
    const Status status = kind ? graph.connect(dependencies[i], node, *kind) : kind.error().status;
    if (status != Status::success) return status;
  }
  return Status::success;
}

}  // namespace

Status add_node(void** place, const void* handle, void* const* dependencies, std::size_t count,
                Result<Work> work, const abi::EdgeData* edges) {
  std::lock_guard lock(graph_mutex());
  auto graph = Core::get().graphs.find(handle);
  auto nodes = nodes_of(dependencies, count);
  if (!place || !graph || !nodes) return Status::invalid_value;
  work = checked(std::move(work));
  if (!work) return tell(work);
  auto node = graph->add(std::move(*work), {});
  if (!node) return node.error().status;
  if (Status status = connect(*graph, *node, *nodes, edges); status != Status::success) {
    graph->remove(*node);
    return status;
  }
  *place = *node;
  return Status::success;
}

Status set_node(const void* handle, Result<Work> work) {
  std::lock_guard lock(graph_mutex());
  auto node = node_of(handle);
  work = checked(std::move(work));
  if (!work) return tell(work);
  if (!node || node->work.index() != work->index()) return Status::invalid_value;
  set_work(*node, std::move(*work));
  return Status::success;
}

Status set_exec_node(const void* exec_handle, const void* handle, Result<Work> work) {
  std::lock_guard lock(graph_mutex());
  auto exec = Core::get().graph_execs.find(exec_handle);
  auto node = node_of(handle);
  work = checked(std::move(work));
  if (!work) return tell(work);
  if (!exec || !node) return Status::invalid_value;
  return exec->set(node.get(), std::move(*work));
}

Status instantiate(void** place, const void* handle, unsigned long long flags) {
  constexpr unsigned long long known = 0xf, device_launch = 4;
  std::lock_guard lock(graph_mutex());
  auto graph = Core::get().graphs.find(handle);
  if (!place || !graph || (flags & ~known)) return Status::invalid_value;
  if (flags & device_launch) {
    say_once("device graphs",
             "graphs that kernels launch are not supported; launch from the host.");
    return Status::not_supported;
  }
  auto exec = GraphExec::make(*graph, flags);
  if (!exec) return exec.error().status;
  *place = Core::get().graph_execs.add(std::move(*exec));
  return Status::success;
}

}  // namespace inflight::cuda
