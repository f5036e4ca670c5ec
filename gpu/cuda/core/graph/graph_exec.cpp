// Executable graphs: steps in an order that respects every edge.
#include <algorithm>
#include <atomic>

#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/queue/inner_recording.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/work/graph_kernels.hpp"

namespace inflight::cuda {
namespace {

std::uint64_t next_exec_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

constexpr std::uint64_t auto_free_on_launch = 1;  // cudaGraphInstantiateFlags

// The effect of a node's work on graph memory. Without memory there is none.
GraphReservation::Step memory_step(const Work& work) {
  if (auto* made = std::get_if<AllocateWork>(&work)) return {made->memory, true};
  if (auto* freed = std::get_if<FreeWork>(&work)) return {freed->memory, false};
  return {nullptr, false};
}

}  // namespace

GraphExec::GraphExec(std::uint64_t flags) : flags(flags), id(next_exec_id()) {}

Result<std::vector<GraphExec::Step>> GraphExec::flatten(const Graph& graph) {
  auto order = graph.order();
  if (!order) return tl::unexpected(order.error());
  std::vector<Step> steps;
  std::unordered_map<const Node*, std::size_t> place;
  for (const Node* node : *order) {
    Step step;
    step.node = node, step.work = node->work;
    for (const Node* dependency : node->dependencies) {
      step.after.push_back(place[dependency]);
      const EdgeKind kind = node->kind(dependency);
      if (kind.programmatic()) step.programmatic.push_back(place[dependency]);
      if (!kind.after_begin()) continue;
      step.after_begin.push_back(place[dependency]);
      steps[place[dependency]].awaited_at_begin = true;
    }
    std::sort(step.after.begin(), step.after.end());
    if (auto* child = std::get_if<ChildWork>(&step.work)) {
      auto inner = flatten(*child->graph);
      if (!inner) return inner;
      const std::size_t base = steps.size();
      const std::vector<std::size_t> front = step.after;
      for (Step& each : *inner) {
        for (auto* list : {&each.after, &each.programmatic, &each.after_begin})
          for (std::size_t& index : *list) index += base;
        // The child's first steps wait for what its node waits for, and the node is done after all.
        if (each.after.empty()) each.after = front;
        step.after.push_back(steps.size());
        steps.push_back(std::move(each));
      }
    }
    if (const auto* chooses = std::get_if<ConditionalWork>(&step.work)) {
      for (const auto& body : chooses->node->bodies) {
        auto inner = flatten(*body);
        if (!inner) return inner;
        step.bodies.push_back(std::move(*inner));
      }
    }
    place[node] = steps.size();
    steps.push_back(std::move(step));
  }
  return steps;
}

Result<std::shared_ptr<GraphExec>> GraphExec::make(const Graph& graph, std::uint64_t flags) {
  auto steps = flatten(graph);
  if (!steps) return tl::unexpected(steps.error());
  // As on an H200, every condition must decide a node.
  for (const auto& condition : graph.conditions)
    if (!decides(*steps, *condition)) return fail(Status::invalid_value);
  std::shared_ptr<GraphExec> exec(new GraphExec(flags));
  if (Status status = take_updatable(*steps, exec); status != Status::success) return fail(status);
  exec->steps_ = std::move(*steps);
  exec->held_ = std::make_shared<const Held>(Held{graph.embedded_clone(), {}});
  return exec;
}

// A node that kernels may change belongs to one executable graph at a time.
Status GraphExec::take_updatable(const Steps& steps, const std::shared_ptr<GraphExec>& exec) {
  for (const Step& step : steps) {
    const auto* const kernel = std::get_if<KernelWork>(&step.work);
    if (!kernel || !kernel->updatable) continue;
    if (!kernel->updatable->take(exec, *kernel)) return Status::not_supported;
    exec->updatable_ = true;
  }
  return Status::success;
}

bool GraphExec::has_updatable(const Steps& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    const auto* const kernel = std::get_if<KernelWork>(&step.work);
    return kernel && kernel->updatable;
  });
}

void GraphExec::release_nodes() {
  const std::lock_guard lock(mutex_);
  for (const Step& step : steps_)
    if (const auto* const kernel = std::get_if<KernelWork>(&step.work); kernel && kernel->updatable)
      kernel->updatable->release();
}

void GraphExec::upload() {
  if (!for_devices()) return;
  const std::lock_guard lock(mutex_);
  uploaded_ = std::make_shared<const Steps>(steps_);
}

// True if a node in these steps or their bodies depends on the condition.
bool GraphExec::decides(const Steps& steps, const Condition& condition) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    const auto* chooses = std::get_if<ConditionalWork>(&step.work);
    return (chooses && chooses->node->condition.get() == &condition) ||
           std::any_of(step.bodies.begin(), step.bodies.end(),
                       [&](const Steps& body) { return decides(body, condition); });
  });
}

// A launch keeps the programs of its kernels, also if their modules are unloaded meanwhile.
Status GraphExec::link_kernels(Steps& steps) {
  for (Step& step : steps) {
    for (Steps& body : step.bodies)
      if (Status status = link_kernels(body); status != Status::success) return status;
    auto* const kernel = std::get_if<KernelWork>(&step.work);
    if (!kernel || kernel->updatable || !step.enabled) continue;
    auto linked = kernel->function->on(kernel->device);
    if (!linked) return report(linked);
    kernel->linked = std::move(*linked);
  }
  return Status::success;
}

// From now on, events that the graph records stand for this launch. For listeners, whoever waits
// for one comes after the whole launch.
void GraphExec::publish(const Steps& steps, const Ticket& launch) {
  for (const Step& step : steps)
    if (const auto* const record = std::get_if<RecordWork>(&step.work)) {
      const std::shared_ptr<Recording>& recording = record->recording->recording();
      if (observes(check::Topic::host)) recording->ticket = launch;
      record->event->record(recording);
    }
}

Status GraphExec::launch(const std::shared_ptr<Stream>& stream) {
  auto steps = std::make_shared<Steps>();
  std::vector<Ticket> after;
  GraphReservation reservation;
  std::shared_ptr<const Held> held;
  {
    std::lock_guard lock(mutex_);
    held = held_;
    *steps = steps_;
    if (Status status = link_kernels(*steps); status != Status::success) return status;
    std::vector<GraphReservation::Step> memory;
    for (const Step& step : steps_)
      if (auto each = memory_step(step.work); each.memory) memory.push_back(std::move(each));
    Status status = reservation.take(memory, *stream, flags & auto_free_on_launch);
    if (status != Status::success) return status;
    if (for_devices()) uploaded_ = std::make_shared<const Steps>(steps_);
    after.push_back(last_);
  }
  for (Step& step : *steps)
    if (auto* const wait = std::get_if<WaitWork>(&step.work)) {
      wait->recording = wait->event->latest();
      if (wait->recording)
        after.push_back(wait->recording->ticket);
      else
        wait->recording = std::make_shared<const Recording>();  // it is done
    } else if (auto* const record = std::get_if<RecordWork>(&step.work)) {
      record->recording = std::make_shared<InnerRecording>(stream->last(), record->event->shared);
    }
  stream->device().printed.flush();
  const Ticket ticket = stream->submit([self = shared_from_this(), steps, held = std::move(held),
                                        raw = stream.get()] { run(self, steps, *raw); },
                                       after);
  reservation.launched(ticket);
  publish(*steps, ticket);
  std::lock_guard lock(mutex_);
  last_ = ticket;
  return Status::success;
}

GraphExec::Step* GraphExec::find(Steps& steps, const Node* node) {
  for (Step& each : steps) {
    if (each.node == node) return &each;
    for (Steps& body : each.bodies)
      if (Step* const inside = find(body, node)) return inside;
  }
  return nullptr;
}

// A child graph's steps lie right before the child node's own step.
Status GraphExec::set_child(Step& step, const Graph& child) {
  auto fresh = flatten(child);
  const auto place = std::size_t(&step - steps_.data());
  if (!fresh || fresh->size() > place) return Status::invalid_value;
  Step* inner = &step - fresh->size();
  for (std::size_t i = 0; i < fresh->size(); ++i)
    if (inner[i].work.index() != (*fresh)[i].work.index()) return Status::invalid_value;
  for (std::size_t i = 0; i < fresh->size(); ++i) inner[i].work = std::move((*fresh)[i].work);
  auto held = std::make_shared<Held>(*held_);
  held->children[step.node] = child.embedded_clone();
  held_ = std::move(held);
  return Status::success;
}

Status GraphExec::set(const Node* node, Work work) {
  // If it is dropped, the program's destructors run without the mutex.
  std::shared_ptr<const Held> old;
  std::lock_guard lock(mutex_);
  old = held_;
  Step* found = step(node);
  if (!found || found->work.index() != work.index()) return Status::invalid_value;
  if (std::holds_alternative<ConditionalWork>(work)) return Status::invalid_value;
  if (const auto* const values = std::get_if<ValueWork>(&work))
    if (!may_become(std::get<ValueWork>(found->work), *values)) return Status::invalid_value;
  if (auto* child = std::get_if<ChildWork>(&work)) return set_child(*found, *child->graph);
  if (auto* const kernel = std::get_if<KernelWork>(&work))
    if (const auto& node = std::get<KernelWork>(found->work).updatable) {
      kernel->updatable = node;
      node->set(*kernel);
    }
  keep_in_graph(work);
  found->work = std::move(work);
  return Status::success;
}

Result<Work> GraphExec::work(const Node* node) const {
  std::lock_guard lock(mutex_);
  const Step* found = const_cast<GraphExec*>(this)->step(node);
  if (!found) return fail(Status::invalid_value);
  return found->work;
}

Status GraphExec::enable(const Node* node, bool enabled) {
  std::lock_guard lock(mutex_);
  Step* found = step(node);
  if (!found || found->work.index() > 2) return Status::invalid_value;  // kernel, copy, fill
  found->enabled = enabled;
  if (const auto* const kernel = std::get_if<KernelWork>(&found->work); kernel && kernel->updatable)
    kernel->updatable->enable(enabled);
  return Status::success;
}

Result<bool> GraphExec::enabled(const Node* node) const {
  std::lock_guard lock(mutex_);
  const Step* found = const_cast<GraphExec*>(this)->step(node);
  if (!found || found->work.index() > 2) return fail(Status::invalid_value);
  return found->enabled;
}

GraphExec::Updated GraphExec::update(const Graph& graph) {
  auto fresh = flatten(graph);
  if (!fresh) return {Change::error, nullptr};
  if (updatable_ || has_updatable(*fresh)) return {Change::not_supported, nullptr};
  // If it is dropped, the program's destructors run without the mutex.
  std::shared_ptr<const Held> old;
  std::lock_guard lock(mutex_);
  const Updated updated = difference(steps_, *fresh);
  if (updated.change != Change::none) return updated;
  replace(steps_, *fresh);
  old = std::move(held_);
  held_ = std::make_shared<const Held>(Held{graph.embedded_clone(), {}});
  return updated;
}

GraphExec::Updated GraphExec::difference(const Steps& old, const Steps& fresh) {
  if (fresh.size() != old.size()) return {Change::topology, nullptr};
  for (std::size_t i = 0; i < old.size(); ++i) {
    auto* node = const_cast<Node*>(fresh[i].node);
    if (fresh[i].after != old[i].after || fresh[i].bodies.size() != old[i].bodies.size())
      return {Change::topology, node};
    if (fresh[i].work.index() != old[i].work.index()) return {Change::node_type, node};
    if (const auto* const values = std::get_if<ValueWork>(&fresh[i].work);
        values && !may_become(std::get<ValueWork>(old[i].work), *values))
      return {Change::parameters, node};
    for (std::size_t b = 0; b < old[i].bodies.size(); ++b)
      if (const Updated inside = difference(old[i].bodies[b], fresh[i].bodies[b]);
          inside.change != Change::none)
        return inside;
  }
  return {};
}

// Later calls may name the nodes of the graph it was made from, so `node` stays.
void GraphExec::replace(Steps& old, Steps& fresh) {
  for (std::size_t i = 0; i < old.size(); ++i) {
    old[i].work = std::move(fresh[i].work);
    for (std::size_t b = 0; b < old[i].bodies.size(); ++b)
      replace(old[i].bodies[b], fresh[i].bodies[b]);
  }
}

}  // namespace inflight::cuda
