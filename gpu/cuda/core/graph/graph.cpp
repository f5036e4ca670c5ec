// Graphs: nodes, edges, order and clones.
#include "gpu/cuda/core/graph/graph.hpp"

#include <algorithm>
#include <deque>
#include <unordered_set>

namespace inflight::cuda {
namespace {

Handles<Node>& node_handles() {
  static Handles<Node>& instance = *new Handles<Node>;
  return instance;
}

bool contains(const std::vector<Node*>& nodes, const Node* node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

// Such a node runs after all others that may run before it, because another branch may write the
// value.
bool waits_for_values(const Node& node) {
  const auto* const values = std::get_if<ValueWork>(&node.work);
  return values && waits_for_any(*values);
}

bool is_kernel(const Node& node) { return std::holds_alternative<KernelWork>(node.work); }

// cudaGraphNodeType, in the order of Work's alternatives. A library's work counts as a host node,
// because the host does it.
constexpr int node_types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 3, 13, 12};

// Sets one pointer per parameter, as cudaKernelNodeParams returns them.
void point_at_arguments(Node& node) {
  auto* kernel = std::get_if<KernelWork>(&node.work);
  if (!kernel || !kernel->function) return;
  auto found = kernel->function->on(kernel->device);
  if (!found) return;
  node.arguments.clear();
  for (const machine::Parameter& parameter : (*found)->parameters)
    node.arguments.push_back(kernel->parameters.data() + parameter.offset);
}

}  // namespace

bool can_connect(const EdgeKind& kind, const Node& from, const Node& to) {
  constexpr unsigned char programmatic_port = 1, last_port = 2, programmatic = 1;
  if (kind.to_port != 0 || kind.from_port > last_port || kind.type > programmatic) return false;
  if (kind.from_port != 0 && !is_kernel(from)) return false;
  if (kind.type == programmatic) return kind.from_port != 0 && is_kernel(from) && is_kernel(to);
  return kind.from_port != programmatic_port;
}

EdgeKind Node::kind(const Node* dependency) const {
  const auto found = kinds.find(dependency);
  return found == kinds.end() ? EdgeKind{} : found->second;
}

int node_type(const Work& work) { return node_types[work.index()]; }

std::recursive_mutex& graph_mutex() {
  static std::recursive_mutex& mutex = *new std::recursive_mutex;
  return mutex;
}

std::shared_ptr<Node> node_of(const void* handle) { return node_handles().find(handle); }

std::uint64_t Graph::next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

namespace {

// The node belongs to no graph from now on.
void detach(Node& node) {
  node.graph = nullptr;
  node_handles().remove(&node);
  // The program may have looked at the child's graph.
  if (const auto* const child = std::get_if<ChildWork>(&node.work))
    Core::get().graphs.remove(child->graph.get());
}

}  // namespace

Graph::~Graph() {
  for (const auto& node : nodes_) detach(*node);
}

void keep_in_graph(Work& work) {
  if (auto* const kernel = std::get_if<KernelWork>(&work)) kernel->linked = {};
  if (auto* const copy = std::get_if<Copy>(&work)) note_sides(*copy);
}

void set_work(Node& node, Work work) {
  keep_in_graph(work);
  node.work = std::move(work);
  point_at_arguments(node);
}

Result<Node*> Graph::add(Work work, const std::vector<Node*>& dependencies) {
  std::unordered_set<const Node*> seen;
  for (const Node* each : dependencies)
    if (!owns(each) || !seen.insert(each).second) return fail(Status::invalid_value);
  if (const auto* const freed = std::get_if<FreeWork>(&work); freed && frees(freed->memory.get()))
    return fail(Status::invalid_value);
  auto node = std::make_shared<Node>();
  node->graph = this;
  node->dependencies = dependencies;
  node->id = next_node_++;
  set_work(*node, std::move(work));
  nodes_.push_back(node);
  return node_handles().add(node);
}

Status Graph::connect(Node* from, Node* to, EdgeKind kind) {
  if (!owns(from) || !owns(to) || from == to || contains(to->dependencies, from) ||
      !can_connect(kind, *from, *to))
    return Status::invalid_value;
  to->dependencies.push_back(from);
  if (!kind.plain()) to->kinds[from] = kind;
  return Status::success;
}

Status Graph::disconnect(Node* from, Node* to, EdgeKind kind) {
  if (!owns(from) || !owns(to) || !contains(to->dependencies, from) || to->kind(from) != kind)
    return Status::invalid_value;
  std::erase(to->dependencies, from);
  to->kinds.erase(from);
  return Status::success;
}

Status Graph::remove(Node* node) {
  if (!owns(node)) return Status::invalid_value;
  for (const auto& each : nodes_) {
    std::erase(each->dependencies, node);
    each->kinds.erase(node);
  }
  detach(*node);
  std::erase_if(nodes_, [&](const auto& each) { return each.get() == node; });
  return Status::success;
}

bool Graph::has_memory() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    return std::holds_alternative<AllocateWork>(node->work) ||
           std::holds_alternative<FreeWork>(node->work);
  });
}

bool Graph::frees(const GraphMemory* memory) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& node) {
    const auto* const freed = std::get_if<FreeWork>(&node->work);
    return freed && freed->memory.get() == memory;
  });
}

std::vector<Node*> Graph::roots() const {
  std::vector<Node*> result;
  for (const auto& node : nodes_)
    if (node->dependencies.empty()) result.push_back(node.get());
  return result;
}

std::vector<Node*> Graph::dependents(const Node* node) const {
  std::vector<Node*> result;
  for (const auto& each : nodes_)
    if (contains(each->dependencies, node)) result.push_back(each.get());
  return result;
}

std::vector<Graph::Edge> Graph::edges() const {
  std::vector<Edge> result;
  for (const auto& node : nodes_)
    for (Node* dependency : node->dependencies)
      result.push_back({dependency, node.get(), node->kind(dependency)});
  return result;
}

Result<std::vector<Node*>> Graph::order() const {
  std::vector<Node*> result;
  std::deque<Node*> waiting;
  std::unordered_map<const Node*, std::size_t> missing;
  std::unordered_map<const Node*, std::vector<Node*>> after;
  const auto ready = [&](Node* node) {
    if (waits_for_values(*node))
      waiting.push_back(node);
    else
      result.push_back(node);
  };
  for (const auto& node : nodes_) {
    missing[node.get()] = node->dependencies.size();
    for (const Node* dependency : node->dependencies) after[dependency].push_back(node.get());
    if (node->dependencies.empty()) ready(node.get());
  }
  for (std::size_t i = 0;; ++i) {
    if (i == result.size()) {
      if (waiting.empty()) break;
      result.push_back(waiting.front());
      waiting.pop_front();
    }
    for (Node* next : after[result[i]])
      if (--missing[next] == 0) ready(next);
  }
  if (result.size() != nodes_.size()) return fail(Status::invalid_value);
  return result;
}

std::shared_ptr<Graph> Graph::embedded_clone() const {
  auto copy = clone();
  copy->embedded = true;
  return copy;
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  copy->user_references = user_references;
  std::unordered_map<const Node*, Node*> twin;
  for (const auto& node : nodes_) {
    Work work = node->work;
    if (auto* child = std::get_if<ChildWork>(&work)) child->graph = child->graph->embedded_clone();
    if (auto* chooses = std::get_if<ConditionalWork>(&work)) chooses->node = chooses->node->clone();
    Node* made = *copy->add(std::move(work), {});
    made->origin = node.get();
    twin[node.get()] = made;
  }
  for (const auto& node : nodes_) {
    for (const Node* dependency : node->dependencies)
      twin[node.get()]->dependencies.push_back(twin[dependency]);
    for (const auto& [dependency, kind] : node->kinds)
      twin[node.get()]->kinds[twin[dependency]] = kind;
  }
  return copy;
}

bool Graph::joined(const std::vector<Node*>& nodes, const std::vector<Node*>& tips) {
  std::unordered_set<const Node*> seen(tips.begin(), tips.end());
  std::vector<const Node*> open(tips.begin(), tips.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Node* dependency : node->dependencies)
      if (seen.insert(dependency).second) open.push_back(dependency);
  }
  return std::all_of(nodes.begin(), nodes.end(), [&](const Node* n) { return seen.contains(n); });
}

}  // namespace inflight::cuda
