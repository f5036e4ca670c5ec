// Conversions between graph nodes' parameters and work.
#include "gpu/cuda/core/calls/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/calls/copy_nodes.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/work/graph_kernels.hpp"
#include "gpu/cuda/core/work/launch.hpp"

namespace inflight::cuda {
namespace {

Result<Work> checked(Result<Work> work) {
  if (!work) return work;
  if (Status status = check(*work, current_device()); status != Status::success)
    return fail(status);
  if (auto* const copy = std::get_if<Copy>(&*work)) note_sides(*copy);
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
  if (!node || node->bytes == 0) return fail(Status::invalid_value);
  if (abi::is_on_host(node->pool.location.type)) {
    node->pointer = nullptr;
    return fail(Status::not_supported);
  }
  if (node->pool.location.type != abi::location_device) return fail(Status::invalid_value);
  if (!device_exists(node->pool.location.id)) return fail(Status::invalid_device);
  std::lock_guard lock(graph_mutex());
  auto graph = Core::get().graphs.find(site.graph);
  auto after = nodes_of(site.dependencies, site.count);
  if (!graph || !after) return fail(Status::invalid_value);
  auto memory = GraphMemory::make(*graph, *after, node->pool.location.id, node->bytes);
  memory->requested_type = node->pool.allocation_type;
  node->pointer = pointer_to(memory->address);
  return Work(AllocateWork{memory, memory->address, node->bytes});
}

// How many nodes a graph has with those inside its nodes, and how deep they nest.
struct Size {
  std::size_t nodes = 0, depth = 1;
};
Size size_of(const Graph& graph) {
  Size size{graph.nodes().size()};
  const auto add = [&](const Graph& inner) {
    const Size within = size_of(inner);
    size.nodes += within.nodes;
    size.depth = std::max(size.depth, within.depth + 1);
  };
  for (const auto& node : graph.nodes()) {
    if (const auto* child = std::get_if<ChildWork>(&node->work)) add(*child->graph);
    if (const auto* chooses = std::get_if<ConditionalWork>(&node->work))
      for (const auto& body : chooses->node->bodies) add(*body);
  }
  return size;
}

Result<Work> child_work(const void* handle) {
  std::lock_guard lock(graph_mutex());
  auto graph = Core::get().graphs.find(handle);
  if (!graph) return fail(Status::invalid_value);
  if (graph->has_memory()) return fail(Status::not_supported);
  // A child node has a copy of its graph, so graphs in graphs may double with each of them.
  constexpr std::size_t most_nodes = 1 << 18, deepest = 512;
  const Size size = size_of(*graph);
  if (size.nodes > most_nodes || size.depth > deepest)
    return fail(Status::out_of_memory,
                fmt::format("a child node of a graph with {} nodes, {} graphs deep: the software "
                            "GPU copies graphs of at most {} nodes, {} deep",
                            size.nodes, size.depth, most_nodes, deepest));
  return Work(ChildWork{graph->embedded_clone()});
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
  auto memory = GraphMemory::find(address_of(pointer));
  if (!memory) return fail(Status::invalid_value);
  return Work(FreeWork{memory, memory->address});
}

Result<Work> conditional_work(abi::ConditionalNode& node, const NodeSite& site) {
  auto made = make_conditional(node, Core::get().graphs.find(site.graph));
  if (!made) return tl::unexpected(made.error());
  return Work(ConditionalWork{std::move(*made)});
}

Result<Work> work_of(abi::GraphNode* node, const NodeSite& site) {
  if (!node) return fail(Status::invalid_value);
  switch (node->type) {
    case abi::node_kernel:
      return work_of(&node->kernel);
    case abi::node_copy:
      return copy_node_work(&node->copy.copy);
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
    case abi::node_conditional:
      return conditional_work(node->conditional, site);
    case abi::node_semaphore_signal:
    case abi::node_semaphore_wait:
      report_once("graph node " + std::to_string(node->type),
                  "graph nodes for semaphores of other APIs are not supported.");
      return fail(Status::not_supported);
    default:
      return fail(Status::invalid_value);
  }
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
  if (!work) return report(work);
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
  if (!work) return report(work);
  if (!node || node->work.index() != work->index()) return Status::invalid_value;
  set_work(*node, std::move(*work));
  return Status::success;
}

Status set_exec_node(const void* exec_handle, const void* handle, Result<Work> work) {
  std::lock_guard lock(graph_mutex());
  auto exec = Core::get().graph_execs.find(exec_handle);
  auto node = node_of(handle);
  work = checked(std::move(work));
  if (!work) return report(work);
  if (!exec || !node) return Status::invalid_value;
  return exec->set(node.get(), std::move(*work));
}

namespace {

// Copies the launch attributes that the parameters lack from the node's current work.
Result<Work> keep_attributes(const void* node, Result<Work> after) {
  auto before = node_of(node);
  auto* old = before ? std::get_if<KernelWork>(&before->work) : nullptr;
  auto* fresh = after ? std::get_if<KernelWork>(&*after) : nullptr;
  if (!old || !fresh) return after;
  fresh->cooperative = old->cooperative;
  fresh->programmatic = old->programmatic;
  fresh->priority = old->priority;
  fresh->updatable = old->updatable;
  fresh->partition = old->partition;
  if (fresh->cluster == machine::Dim3{}) fresh->cluster = old->cluster;
  return after;
}

// Runs body(Node&, T&) if the node's work is a T.
template <class T, class Body>
Status with_node(const void* handle, Body body) {
  std::lock_guard lock(graph_mutex());
  auto node = node_of(handle);
  auto* work = node ? std::get_if<T>(&node->work) : nullptr;
  return work ? body(*node, *work) : Status::invalid_value;
}

}  // namespace

Status set_kernel_node(const void* node, const abi::KernelNode* parameters) {
  const std::lock_guard lock(graph_mutex());
  return set_node(node, keep_attributes(node, work_of(parameters)));
}

Status set_exec_kernel_node(const void* exec, const void* node, const abi::KernelNode* parameters) {
  const std::lock_guard lock(graph_mutex());
  return set_exec_node(exec, node, keep_attributes(node, work_of(parameters)));
}

Status get_node(const void* handle, abi::KernelNode* place) {
  return with_node<KernelWork>(handle, [&](Node& node, const KernelWork& work) {
    return store_value(place, {const_cast<void*>(work.host),
                               {work.grid.x, work.grid.y, work.grid.z},
                               {work.block.x, work.block.y, work.block.z},
                               work.dynamic_shared,
                               node.arguments.data(),
                               nullptr});
  });
}

Status get_node(const void* handle, abi::FillNode* place) {
  return with_node<Fill>(handle, [&](Node&, const Fill& fill) {
    return store_value(place,
                       {fill.to, fill.pitch, fill.value, fill.element, fill.width, fill.height});
  });
}

Status get_node(const void* handle, abi::HostNode* place) {
  return with_node<HostWork>(handle, [&](Node&, const HostWork& work) {
    return store_value(place, {work.function, work.data});
  });
}

Status get_node(const void* handle, abi::AllocateNode* place) {
  return with_node<AllocateWork>(handle, [&](Node&, const AllocateWork& work) {
    abi::AllocateNode node{};
    node.pool.allocation_type = work.memory->requested_type;
    node.pool.location = {abi::location_device, work.memory->device};
    node.bytes = work.memory->bytes;
    node.pointer = pointer_to(work.memory->address);
    return store_value(place, node);
  });
}

Status get_child_graph(const void* handle, void** place) {
  return with_node<ChildWork>(handle, [&](Node&, const ChildWork& work) {
    if (!place) return Status::invalid_value;
    *place = Core::get().graphs.add(work.graph);
    return Status::success;
  });
}

Status get_recorded_event(const void* handle, void** place) {
  return with_node<RecordWork>(
      handle, [&](Node&, const RecordWork& work) { return store_value(place, work.event.get()); });
}

Status get_awaited_event(const void* handle, void** place) {
  return with_node<WaitWork>(
      handle, [&](Node&, const WaitWork& work) { return store_value(place, work.event.get()); });
}

Status get_freed_pointer(const void* handle, void** place) {
  return with_node<FreeWork>(handle, [&](Node&, const FreeWork& work) {
    return store_value(place, pointer_to(work.address));
  });
}

namespace {

Status get_conditional(const void* handle, abi::ConditionalNode& place) {
  return with_node<ConditionalWork>(handle, [&](Node&, const ConditionalWork& work) {
    Conditional& node = *work.node;
    if (node.handles.empty())  // it is a clone's
      for (const auto& body : node.bodies) node.handles.push_back(Core::get().graphs.add(body));
    place = {node.condition->handle(), int(node.kind), unsigned(node.bodies.size()),
             node.handles.data()};
    return Status::success;
  });
}

}  // namespace

Status get_node(const void* handle, abi::GraphNode* place) {
  const std::lock_guard lock(graph_mutex());
  const auto node = node_of(handle);
  if (!node || !place) return Status::invalid_value;
  *place = {};
  place->type = node_type(node->work);
  switch (place->type) {
    case abi::node_kernel:
      return get_node(handle, &place->kernel);
    case abi::node_copy:
      return get_copy_node(handle, &place->copy.copy);
    case abi::node_fill:
      return get_node(handle, &place->fill);
    case abi::node_host:
      return get_node(handle, &place->host);
    case abi::node_graph:
      return get_child_graph(handle, &place->graph);
    case abi::node_wait:
      return get_awaited_event(handle, &place->event);
    case abi::node_record:
      return get_recorded_event(handle, &place->event);
    case abi::node_allocate:
      return get_node(handle, &place->allocate);
    case abi::node_free:
      return get_freed_pointer(handle, &place->freed);
    case abi::node_conditional:
      return get_conditional(handle, place->conditional);
    default:
      return Status::success;
  }
}

namespace {

// Whether a node's launch attribute can be set, as on an H100. Programmatic launches become edges.
bool is_of_nodes(int id) {
  switch (id) {
    case abi::launch_access_policy:
    case abi::launch_cooperative:
    case abi::launch_cluster:
    case abi::launch_cluster_policy:
    case abi::launch_priority:
    case abi::launch_memory_domain_map:
    case abi::launch_memory_domain:
    case abi::launch_device_updatable:
    case abi::launch_carveout:
    case abi::launch_nvlink:
      return true;
    default:
      return false;
  }
}

}  // namespace

Status get_node_attribute(const void* handle, int id, LaunchAttributeValue* value) {
  return with_node<KernelWork>(handle, [&](Node&, const KernelWork& work) {
    // This one can only be set.
    if (!value || !is_of_nodes(id) || id == abi::launch_nvlink) return Status::invalid_value;
    *value = {};
    if (id == abi::launch_cooperative) value->integer = work.cooperative;
    if (id == abi::launch_priority) value->integer = work.priority;
    if (id == abi::launch_cluster && work.cluster != machine::Dim3{})
      value->cluster = {work.cluster.x, work.cluster.y, work.cluster.z};
    if (id == abi::launch_device_updatable && work.updatable)
      value->updatable = {1, pointer_to(work.updatable->handle())};
    return Status::success;
  });
}

namespace {

// Once kernels may change a node, that cannot be undone. Stores the node's handle for kernels in
// the attribute.
Status set_updatable(KernelWork& work, const LaunchAttributeValue& value) {
  if (value.updatable.asked == 0) return work.updatable ? Status::not_supported : Status::success;
  if (value.updatable.asked != 1) return Status::invalid_value;
  if (!work.updatable) work.updatable = UpdatableNode::make();
  const_cast<LaunchAttributeValue&>(value).updatable.node = pointer_to(work.updatable->handle());
  return Status::success;
}

}  // namespace

Status set_node_attribute(const void* handle, int id, const LaunchAttributeValue* value) {
  return with_node<KernelWork>(handle, [&](Node&, KernelWork& work) {
    if (!value || !is_of_nodes(id)) return Status::invalid_value;
    if (id == abi::launch_device_updatable) return set_updatable(work, *value);
    if (id == abi::launch_cooperative) work.cooperative = value->integer != 0;
    if (id == abi::launch_priority) work.priority = value->integer;
    if (id == abi::launch_cluster)
      work.cluster = {value->cluster.x, value->cluster.y, value->cluster.z};
    return Status::success;
  });
}

Status copy_node_attributes(const void* to, const void* from) {
  return with_node<KernelWork>(from, [&](Node&, const KernelWork& source) {
    return with_node<KernelWork>(to, [&](Node&, KernelWork& target) {
      if (source.updatable || target.updatable) return Status::invalid_value;
      target.cooperative = source.cooperative;
      target.priority = source.priority;
      target.cluster = source.cluster;
      return Status::success;
    });
  });
}

}  // namespace inflight::cuda
