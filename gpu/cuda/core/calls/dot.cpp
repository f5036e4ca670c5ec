// Prints a graph in Graphviz's language, formatted as by NVIDIA's driver
// (tests/kernels/graph_dot.cu has an H200's output).
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "gpu/cuda/core/calls/graphs.hpp"
#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/host/output_file.hpp"

namespace inflight::cuda {
namespace {

// cudaGraphDebugDotFlags. `verbose` means all of them.
enum Flag : unsigned {
  verbose = 1,
  kernel_parameters = 1 << 2,
  copy_parameters = 1 << 3,
  fill_parameters = 1 << 4,
  host_parameters = 1 << 5,
  event_parameters = 1 << 6,
  kernel_attributes = 1 << 9,
  handles = 1 << 10,
  allocation_parameters = 1 << 11,
  free_parameters = 1 << 12,
  topology = 1 << 14,
  conditional_parameters = 1 << 15,
};

template <class T>
std::string hex(T* pointer) {
  return fmt::format("0x{:016X}", reinterpret_cast<std::uintptr_t>(pointer));
}
std::string hex(std::uint64_t address) { return fmt::format("0x{:016X}", address); }

std::string extents(const machine::Dim3& d) {
  if (d.z != 1) return fmt::format("\\{{{},{},{}\\}}", d.x, d.y, d.z);
  return d.y != 1 ? fmt::format("\\{{{},{}\\}}", d.x, d.y) : fmt::format("{}", d.x);
}

struct Side {
  const char *letter, *words;
};
Side side_of(const void* pointer, bool is_array) {
  if (is_array) return {"A", "ARRAY"};
  const auto extent = Core::get().memory.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (!extent) return {"H", "HOST PAGEABLE"};
  return extent->kind == machine::AllocationKind::host ? Side{"H", "HOST PINNED"}
                                                       : Side{"D", "DEVICE"};
}

// Numbers the nodes backwards, from those that no node depends on.
std::map<const Node*, unsigned> topological_numbers(const Graph& graph) {
  std::deque<const Node*> next;
  for (const auto& node : graph.nodes())
    if (graph.dependents(node.get()).empty()) next.push_front(node.get());
  std::map<const Node*, unsigned> numbers;
  for (const Node* node : next) numbers.emplace(node, 0);
  for (unsigned number = 0; !next.empty(); next.pop_front()) {
    numbers[next.front()] = number++;
    for (const Node* each : next.front()->dependencies)
      if (numbers.emplace(each, 0).second) next.push_back(each);
  }
  return numbers;
}

class Printer {
 public:
  explicit Printer(unsigned flags) : flags_(flags & verbose ? ~0u : flags) {}

  void print(const Graph& graph) {
    const auto numbers = topological_numbers(graph);
    std::vector<const Graph*> inner;
    put("subgraph cluster_{} {{\nlabel=\"graph_{}\" graph[style=\"dashed\"];\n", graph.id,
        graph.id);
    for (const auto& node : graph.nodes()) {
      number_ = fmt::format("{}", node->id);
      if (has(topology)) number_ += fmt::format(" (topoId: {})", numbers.at(node.get()));
      put("{}[", name(graph, *node));
      std::visit([&](const auto& work) { describe(*node, work, inner); }, node->work);
      put("];\n\n");
    }
    std::vector<Graph::Edge> edges = graph.edges();
    std::stable_sort(edges.begin(), edges.end(),
                     [](const auto& a, const auto& b) { return a.from->id < b.from->id; });
    for (const Graph::Edge& edge : edges) {
      put("{} -> {}", name(graph, *edge.from), name(graph, *edge.to));
      if (has(topology)) put(" [headlabel={}]", edge.kind.to_port);
      put(";\n");
    }
    put("}}\n");
    for (const Graph* each : inner) print(*each);
  }
  std::string text;

 private:
  bool has(Flag flag) const { return flags_ & flag; }
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }
  static std::string name(const Graph& graph, const Node& node) {
    return fmt::format("\"graph_{}_node_{}\"", graph.id, node.id);
  }
  std::string handle_line(const Node& node) const {
    return has(handles) ? fmt::format("node handle: {}\n", hex(&node)) : "";
  }
  // A box with a few lines.
  void box(const Node& node, std::string_view what, std::string_view rest = "") {
    put("style=\"solid\" shape=\"rectangle\" label=\"{}\n{}\n{}{}\"", number_, what,
        handle_line(node), rest);
  }
  // The first row of a record that is not a kernel's.
  std::string ids(const Node& node) const {
    return has(handles)
               ? fmt::format("| {{{{ID | node handle}} | {{{} | {}}}}}\n", number_, hex(&node))
               : fmt::format("| {{ID | {}}}\n", number_);
  }

  using Inner = std::vector<const Graph*>;

  void describe(const Node& node, const KernelWork& work, Inner&) {
    const std::string_view kernel = work.function ? std::string_view(work.function->name) : "?";
    const std::string shape = has(kernel_parameters)
                                  ? fmt::format("\\<\\<\\<{},{},{}\\>\\>\\>", extents(work.grid),
                                                extents(work.block), work.dynamic_shared)
                                  : "";
    if (!has(kernel_attributes)) {
      put("style=\"bold\" shape=\"octagon\" label=\"{}\n{}\n", number_, kernel);
      if (has(handles)) put("{}func handle: {}\n", handle_line(node), hex(work.host));
      put("{}\"", shape);
      return;
    }
    put("style=\"bold\" shape=\"record\" label=\"{{KERNEL\n| {{ID | {} | {}{}}}\n", number_, kernel,
        shape);
    if (has(handles))
      put("| {{{{node handle | func handle}} | {{{} | {}}}}}\n", hex(&node), hex(work.host));
    put("| {{accessPolicyWindow | {{base_ptr | num_bytes | hitRatio | hitProp | missProp}} | "
        "{{{} | 0 | 0.000000 | N | N}}}}\n| {{cooperative | {}}}\n| {{priority | {}}}\n}}\"",
        hex(std::uint64_t{0}), work.cooperative ? 1 : 0, work.priority);
  }

  void describe(const Node& node, const Fill& work, Inner&) {
    if (has(fill_parameters))
      put("style=\"solid\" style=\"solid\" shape=\"record\" label=\"{{MEMSET\n| {{{{ID | node "
          "handle | dptr | pitch | "
          "value | elementSize | width | height}} | {{{} | {} | {} | {} | {} | {} | {} | "
          "{}}}}}}}\"",
          number_, hex(&node), hex(work.to), work.pitch, work.value, work.element, work.width,
          work.height);
    else
      put("style=\"solid\" shape=\"invtrapezium\"label=\"{}\nMEMSET\n({},{})\n{}\"", number_,
          work.value, work.element * work.width * work.height, handle_line(node));
  }

  void describe(const Node& node, const Copy& work, Inner&) {
    const Side from = side_of(work.from, work.from_array), to = side_of(work.to, work.to_array);
    if (!has(copy_parameters)) {
      put("style=\"solid\" shape=\"trapezium\"label=\"{}\nMEMCPY\n({}to{},{})\n{}\"", number_,
          from.letter, to.letter, work.bytes(), handle_line(node));
      return;
    }
    const bool is_linear = work.height == 1 && work.depth == 1;
    const auto pointer = [&](const void* at, std::uint64_t pitch, std::uint64_t rows) {
      return fmt::format("{} | {} | {} | {}", is_linear ? 0 : pitch, hex(at),
                         is_linear ? 0 : work.width, is_linear ? 0 : rows);
    };
    constexpr std::string_view origin = "{{x | 0} | {y | 0} | {z | 0}}";
    put("style=\"solid\" shape=\"record\" label=\"{{\nMEMCPY\n{}| {{kind | {}to{} ({} to {})}}\n",
        ids(node), from.letter, to.letter, from.words, to.words);
    put("| {{{{srcPtr | dstPtr}} | {{pitch | ptr | xsize | ysize | pitch | ptr | xsize | ysize}} | "
        "{{{} | {}}}}}\n",
        pointer(work.from, work.from_pitch, work.from_rows),
        pointer(work.to, work.to_pitch, work.to_rows));
    put("| {{{{srcPos | {}}} | {{dstPos | {}}} | {{Extent | {{{{Width | {}}} | {{Height | {}}} | "
        "{{Depth | {}}}}}}}}}\n}}\"",
        origin, origin, work.width, work.height, work.depth);
  }

  void describe(const Node& node, const HostWork& work, Inner&) {
    box(node, "HOST",
        has(host_parameters)
            ? fmt::format("fn: {}\nuserData: {}\n", hex(reinterpret_cast<void*>(work.function)),
                          hex(work.data))
            : "");
  }
  void describe(const Node& node, const ChildWork& work, Inner& inner) {
    box(node, fmt::format("graph_{}", work.graph->id));
    inner.push_back(work.graph.get());
  }
  void describe(const Node& node, const EmptyWork&, Inner&) { box(node, "EMPTY"); }
  void event(const Node& node, std::string_view what, const Event* event) {
    box(node, what, has(event_parameters) ? fmt::format("event: {}\n", hex(event)) : "");
  }
  void describe(const Node& node, const RecordWork& work, Inner&) {
    event(node, "EVENT_RECORD", work.event.get());
  }
  void describe(const Node& node, const WaitWork& work, Inner&) {
    event(node, "EVENT_WAIT", work.event.get());
  }

  void describe(const Node& node, const AllocateWork& work, Inner&) {
    if (!has(allocation_parameters)) return box(node, "MEM_ALLOC");
    put("style=\"solid\" shape=\"record\" label=\"{{\nMEM_ALLOC\n{}| {{{{{{poolProps | {{allocType "
        "| handleTypes | "
        "{{location | {{type | id}}}}}} | {{PINNED | NONE | DEVICE | {}}}}}}}}}\n| {{{{bytesize | "
        "dptr}} | {{{} | "
        "{}}}}}\n}}\"",
        ids(node), work.memory->device, work.memory->bytes, hex(work.memory->address));
  }
  void describe(const Node& node, const FreeWork& work, Inner&) {
    if (!has(free_parameters)) return box(node, "MEM_FREE");
    put("style=\"solid\" shape=\"record\" label=\"{{\nMEM_FREE\n{}| {{{{dptr}} | {{{}}}}}\n}}\"",
        ids(node), hex(work.address));
  }

  void describe(const Node& node, const ConditionalWork& work, Inner& inner) {
    constexpr std::string_view kinds[] = {"IF", "WHILE", "SWITCH"};
    const Conditional& c = *work.node;
    put("style=\"bold\" shape=\"record\" label=\"{{\nCONDITIONAL\n| {{ID | {}}}\n", number_);
    if (has(handles)) put("| {{node handle| {}}}\n", hex(&node));
    if (has(conditional_parameters)) put("| {{Conditional Handle|{}}}\n", c.condition->handle());
    put("| {{Conditional Type| {}}}\n", kinds[static_cast<std::size_t>(c.kind)]);
    for (std::size_t i = 0; i < c.bodies.size(); ++i) {
      const std::string when = c.kind == Conditional::Kind::switch_ ? fmt::format("{}", i)
                               : i == 0                             ? "True"
                                                                    : "False";
      put("| {{{}|graph_{}}}\n", when, c.bodies[i]->id);
      inner.push_back(c.bodies[i].get());
    }
    put("}}\n\"");
  }

  // Node types that only this software GPU has, or whose output was never recorded on a chip.
  void describe(const Node& node, const LibraryWork&, Inner&) { box(node, "LIBRARY"); }
  void describe(const Node& node, const ValueWork&, Inner&) { box(node, "BATCH_MEM_OP"); }

  unsigned flags_;
  std::string number_;  // of the node being described
};

}  // namespace

Status print_graph(const void* handle, const char* path, unsigned flags) {
  std::lock_guard lock(graph_mutex());
  const auto graph = Core::get().graphs.find(handle);
  if (!graph || !path) return Status::invalid_value;
  Printer printer(flags);
  printer.print(*graph);
  return host::replace_file(path, "digraph dot {\n" + printer.text + "}\n")
             ? Status::success
             : Status::operating_system;
}

}  // namespace inflight::cuda
