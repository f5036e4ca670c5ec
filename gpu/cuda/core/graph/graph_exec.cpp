// Instantiated graphs: steps in an order that respects every edge.
#include <algorithm>

#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/memory/pool.hpp"

namespace inflight::cuda {
namespace {

std::uint64_t next_exec_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

constexpr std::uint64_t auto_free_on_launch = 1;  // cudaGraphInstantiateFlags

// What a graph's allocation and release nodes do to memory; no memory: nothing.
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
    Step step{node, node->work, true, {}};
    for (const Node* dependency : node->dependencies) step.after.push_back(place[dependency]);
    std::sort(step.after.begin(), step.after.end());
    if (auto* child = std::get_if<ChildWork>(&step.work)) {
      auto inner = flatten(*child->graph);
      if (!inner) return inner;
      for (Step& each : *inner) {
        for (std::size_t& index : each.after) index += steps.size();
        steps.push_back(std::move(each));
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
  std::shared_ptr<GraphExec> exec(new GraphExec(flags));
  exec->steps_ = std::move(*steps);
  exec->source_ = graph.clone();
  exec->source_->embedded = true;
  return exec;
}

void GraphExec::run(const std::vector<Step>& steps, Stream& stream) {
  for (const Step& step : steps)
    if (step.enabled) perform(step.work, stream);
}

Status GraphExec::launch(const std::shared_ptr<Stream>& stream) {
  if (Status status = allowed_now(*stream); status != Status::success) return status;
  auto steps = std::make_shared<std::vector<Step>>();
  std::vector<Ticket> after;
  GraphReservation reservation;
  {
    std::lock_guard lock(mutex_);
    std::vector<GraphReservation::Step> memory;
    for (const Step& step : steps_)
      if (auto each = memory_step(step.work); each.memory) memory.push_back(std::move(each));
    Status status = reservation.take(memory, *stream, flags & auto_free_on_launch);
    if (status != Status::success) return status;
    *steps = steps_;
    after.push_back(last_);
  }
  for (const Step& step : *steps) {
    auto* wait = std::get_if<WaitWork>(&step.work);
    auto recording = wait ? wait->event->latest() : nullptr;
    if (recording) after.push_back(recording->ticket);
  }
  stream->device().printed.flush();
  Ticket ticket = stream->submit([steps, raw = stream.get()] { run(*steps, *raw); }, after);
  reservation.launched(ticket);
  std::lock_guard lock(mutex_);
  last_ = ticket;
  return Status::success;
}

GraphExec::Step* GraphExec::step(const Node* node) {
  auto it = std::find_if(steps_.begin(), steps_.end(),
                         [&](const Step& each) { return each.node == node; });
  return it == steps_.end() ? nullptr : &*it;
}

// A child's steps stand right before its own.
Status GraphExec::set_child(Step& step, const Graph& child) {
  auto fresh = flatten(child);
  const auto place = std::size_t(&step - steps_.data());
  if (!fresh || fresh->size() > place) return Status::invalid_value;
  Step* inner = &step - fresh->size();
  for (std::size_t i = 0; i < fresh->size(); ++i)
    if (inner[i].work.index() != (*fresh)[i].work.index()) return Status::invalid_value;
  for (std::size_t i = 0; i < fresh->size(); ++i) inner[i].work = std::move((*fresh)[i].work);
  return Status::success;
}

Status GraphExec::set(const Node* node, Work work) {
  std::lock_guard lock(mutex_);
  Step* found = step(node);
  if (!found || found->work.index() != work.index()) return Status::invalid_value;
  if (auto* child = std::get_if<ChildWork>(&work)) return set_child(*found, *child->graph);
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
  std::lock_guard lock(mutex_);
  if (fresh->size() != steps_.size()) return {Change::topology, nullptr};
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    auto* node = const_cast<Node*>((*fresh)[i].node);
    if ((*fresh)[i].after != steps_[i].after) return {Change::topology, node};
    if ((*fresh)[i].work.index() != steps_[i].work.index()) return {Change::node_type, node};
  }
  // Later calls may name the nodes of the graph it was made from, so those stay.
  for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].work = std::move((*fresh)[i].work);
  return {};
}

}  // namespace inflight::cuda
