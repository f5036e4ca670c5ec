// Graphs of work, and the executable graphs that are instantiated from them.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "gpu/cuda/core/graph/conditional.hpp"
#include "gpu/cuda/core/graph/graph_memory.hpp"
#include "gpu/cuda/core/graph/user_object.hpp"
#include "gpu/cuda/core/queue/edge.hpp"
#include "gpu/cuda/core/work/work.hpp"

namespace inflight::cuda {

class GraphExec;

struct Node {
  Graph* graph = nullptr;  // while it is part of one
  Work work;
  std::vector<Node*> dependencies;
  EdgeKinds kinds;  // of the edges from `dependencies`
  EdgeKind kind(const Node* dependency) const;
  const Node* origin = nullptr;  // the node it was cloned from, or null
  std::uint32_t id = 0;          // counts up within its graph
  std::vector<void*> arguments;  // of a kernel: a pointer per parameter, into work's buffer
};

// True if an edge may have this kind. Only kernels have ports, and a programmatic edge starts at
// one (cudaGraphEdgeData).
bool can_connect(const EdgeKind& kind, const Node& from, const Node& to);

// cudaGraphNodeType of a node's work.
int node_type(const Work& work);

// Guards every graph's structure and every stream's capture.
std::recursive_mutex& graph_mutex();

class Graph {
 public:
  ~Graph();
  // Adds a node that waits for `dependencies` (invalid_value: not nodes of this graph, or one is
  // listed twice; a node frees the same allocation).
  Result<Node*> add(Work work, const std::vector<Node*>& dependencies);
  Status connect(Node* from, Node* to, EdgeKind kind = {});     // `to` waits for `from`
  Status disconnect(Node* from, Node* to, EdgeKind kind = {});  // invalid_value: no such edge
  Status remove(Node* node);

  const std::vector<std::shared_ptr<Node>>& nodes() const { return nodes_; }
  std::vector<Node*> roots() const;
  std::vector<Node*> dependents(const Node* node) const;
  struct Edge {
    Node *from, *to;
    EdgeKind kind;
  };
  std::vector<Edge> edges() const;
  // The nodes in topological order. Nodes that wait for values come as late as possible, the others
  // in the order they were added (invalid_value: there is a cycle).
  Result<std::vector<Node*>> order() const;
  std::shared_ptr<Graph> clone() const;
  std::shared_ptr<Graph> embedded_clone() const;
  // True if it allocates or frees memory. Such a graph cannot be cloned or become a child, its
  // nodes and edges cannot be removed, and it has one executable graph at a time (CUDA driver API,
  // cuGraphAddMemAllocNode; codes of an H100).
  bool has_memory() const;
  // True if every node of `nodes` is in `tips` or is an ancestor of one of them.
  static bool joined(const std::vector<Node*>& nodes, const std::vector<Node*>& tips);

  std::uint64_t id = next_id();
  std::vector<std::shared_ptr<UserReferences>> user_references;
  std::vector<std::shared_ptr<Condition>> conditions;  // made for this graph
  std::weak_ptr<GraphExec> instance;                   // the latest executable graph of it
  bool embedded = false;  // belongs to a child or conditional node, which destroys it
  std::weak_ptr<const Graph> enclosing;  // of a conditional node's body: the graph of that node

 private:
  static std::uint64_t next_id();
  bool frees(const GraphMemory* memory) const;
  bool owns(const Node* node) const { return node && node->graph == this; }
  std::vector<std::shared_ptr<Node>> nodes_;
  std::uint32_t next_node_ = 0;
};

// Prepares work for its stay in a graph: each launch links its kernel anew, and a copy notices if
// memory of it is freed.
void keep_in_graph(Work& work);
// Replaces a node's work by work of the same kind.
void set_work(Node& node, Work work);

// The existing node of a handle, or null.
std::shared_ptr<Node> node_of(const void* handle);

// An executable graph: a graph as it was when it was instantiated. Its nodes run one after another,
// except kernels that begin early.
class GraphExec : public std::enable_shared_from_this<GraphExec> {
 public:
  static Result<std::shared_ptr<GraphExec>> make(const Graph& graph, std::uint64_t flags);

  Status launch(const std::shared_ptr<Stream>& stream);
  // True if kernels may launch it (cudaGraphInstantiateFlagDeviceLaunch). They launch the state at
  // the last upload or launch by the host.
  bool for_devices() const { return flags & 4; }
  void upload();
  // Lets another executable graph take over the nodes that kernels may change.
  void release_nodes();
  // Replaces the work of `node` (of the graph it was made from) by work of the same kind.
  Status set(const Node* node, Work work);
  Result<Work> work(const Node* node) const;
  Status enable(const Node* node, bool enabled);
  Result<bool> enabled(const Node* node) const;

  // cudaGraphExecUpdateResult by its numbers.
  enum class Change : int {
    none = 0,
    error = 1,
    topology = 2,
    node_type = 3,
    function = 4,
    parameters = 5,
    not_supported = 6,
  };
  struct Updated {
    Change change = Change::none;
    Node* node = nullptr;  // the node of `graph` where they differ
  };
  Updated update(const Graph& graph);

  const std::uint64_t flags;
  const std::uint64_t id;

 private:
  struct Step {
    const Node* node = nullptr;
    Work work;
    bool enabled = true;
    std::vector<std::size_t> after;         // steps
    std::vector<std::size_t> programmatic;  // those of `after` that allow an early begin
    std::vector<std::size_t> after_begin;   // those of `after` whose begin is waited for
    bool awaited_at_begin = false;          // another step waits for its begin
    std::vector<std::vector<Step>> bodies;  // of a conditional node
  };
  using Steps = std::vector<Step>;
  class Run;
  class Launch;
  friend class Launch;
  static void run(const std::shared_ptr<GraphExec>& exec, std::shared_ptr<const Steps> steps,
                  Stream& stream);
  static void publish(const Steps& steps, const Ticket& launch);
  static Status take_updatable(const Steps& steps, const std::shared_ptr<GraphExec>& exec);
  static bool has_updatable(const Steps& steps);
  static Status link_kernels(Steps& steps);
  explicit GraphExec(std::uint64_t flags);
  static bool decides(const Steps& steps, const Condition& condition);
  static void begin_conditions(const Steps& steps);
  static Step* find(Steps& steps, const Node* node);
  Step* step(const Node* node) { return find(steps_, node); }
  static Updated difference(const Steps& old, const Steps& fresh);
  static void replace(Steps& old, Steps& fresh);
  Status set_child(Step& step, const Graph& child);
  static Result<std::vector<Step>> flatten(const Graph& graph);

  mutable std::mutex mutex_;
  std::vector<Step> steps_;
  // The graphs whose user objects it and its pending launches hold.
  struct Held {
    std::shared_ptr<Graph> source;
    std::map<const Node*, std::shared_ptr<Graph>> children;  // that a child node got later
  };
  std::shared_ptr<const Held> held_;
  std::shared_ptr<const Steps> uploaded_;
  std::atomic<int> launched_by_kernels_{0};  // launches that have not ended
  bool updatable_ = false;                   // kernels may change some of its nodes
  Ticket last_;  // of the latest launch: two launches of one exec never overlap
};

}  // namespace inflight::cuda
