// Conditions in device memory, and conditional nodes.
#include "gpu/cuda/core/graph/conditional.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/machine/config/condition.hpp"

namespace inflight::cuda {
namespace {

constexpr unsigned assign_default = 1;     // cudaGraphConditionalHandleFlags
constexpr unsigned most_bodies = 1 << 16;  // of a switch; each takes some hundred bytes

// Existing conditions by handle. Guarded by graph_mutex().
std::map<std::uint64_t, std::weak_ptr<Condition>>& conditions() {
  static auto& all = *new std::map<std::uint64_t, std::weak_ptr<Condition>>;
  return all;
}

bool possible(const abi::ConditionalNode& node) {
  switch (Conditional::Kind(node.kind)) {
    case Conditional::Kind::if_:
      return node.size == 1 || node.size == 2;
    case Conditional::Kind::while_:
      return node.size == 1;
    case Conditional::Kind::switch_:
      return node.size != 0;
  }
  return false;
}

// True if the condition was made for the graph or for one around it.
bool may_use(std::shared_ptr<const Graph> graph, const std::shared_ptr<Condition>& condition) {
  for (; graph; graph = graph->enclosing.lock())
    if (std::find(graph->conditions.begin(), graph->conditions.end(), condition) !=
        graph->conditions.end())
      return true;
  return false;
}

}  // namespace

Result<std::shared_ptr<Condition>> Condition::make(int device, std::uint32_t value,
                                                   bool is_default) {
  auto& memory = Core::get().memory;
  const auto made = memory.allocate(device, sizeof(std::uint32_t), machine::AllocationKind::device,
                                    256, std::string(machine::condition_name));
  if (!made) return fail(Status::out_of_memory);
  memory.clear(*made);
  return std::shared_ptr<Condition>(new Condition(*made, value, is_default));
}

Condition::~Condition() { Core::get().memory.release(address_); }

std::uint32_t Condition::value() const {
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address_)).load();
}

void Condition::begin() const {
  if (is_default_) std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address_)).store(default_);
}

Conditional::~Conditional() {
  for (const void* handle : handles) Core::get().graphs.remove(handle);
}

std::size_t Conditional::chosen() const {
  const std::uint32_t value = condition->value();
  if (kind == Kind::switch_) return std::min<std::size_t>(value, bodies.size());
  if (value != 0) return 0;
  return kind == Kind::if_ ? 1 : bodies.size();
}

std::shared_ptr<Conditional> Conditional::clone() const {
  auto copy = std::make_shared<Conditional>();
  copy->kind = kind;
  copy->condition = condition;
  for (const auto& body : bodies) {
    copy->bodies.push_back(body->clone());
    copy->bodies.back()->embedded = true;
  }
  return copy;
}

Status make_condition(std::uint64_t* place, const void* handle, unsigned value, unsigned flags) {
  const std::lock_guard lock(graph_mutex());
  const auto graph = Core::get().graphs.find(handle);
  if (!place || !graph || flags > assign_default) return Status::invalid_value;
  auto made = Condition::make(current_device().ordinal, value, flags & assign_default);
  if (!made) return report(made);
  *place = (*made)->handle();
  conditions()[*place] = *made;
  graph->conditions.push_back(std::move(*made));
  return Status::success;
}

Result<std::shared_ptr<Conditional>> make_conditional(abi::ConditionalNode& node,
                                                      const std::shared_ptr<Graph>& graph) {
  const std::lock_guard lock(graph_mutex());
  const auto found = conditions().find(node.handle);
  auto condition = found == conditions().end() ? nullptr : found->second.lock();
  if (!condition || !possible(node) || !may_use(graph, condition))
    return fail(Status::invalid_value);
  if (node.size > most_bodies)
    return fail(Status::out_of_memory,
                fmt::format("a conditional node of {} bodies: the software GPU makes at most {}",
                            node.size, most_bodies));
  auto made = std::make_shared<Conditional>();
  made->kind = Conditional::Kind(node.kind);
  made->condition = std::move(condition);
  for (unsigned i = 0; i < node.size; ++i) {
    auto body = std::make_shared<Graph>();
    body->embedded = true;
    body->enclosing = graph;
    made->handles.push_back(Core::get().graphs.add(body));
    made->bodies.push_back(std::move(body));
  }
  node.bodies = made->handles.data();
  return made;
}

}  // namespace inflight::cuda
