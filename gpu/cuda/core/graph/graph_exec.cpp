// Instantiated graphs: steps in an order that respects every edge.
#include <algorithm>
#include <atomic>
#include <deque>

#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/stream/overlap.hpp"

namespace inflight::cuda {
namespace {

std::uint64_t next_exec_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

constexpr std::uint64_t auto_free_on_launch = 1;  // cudaGraphInstantiateFlags

bool contains(const std::vector<std::size_t>& list, std::size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

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
    Step step{node, node->work, true, {}, {}, {}};
    for (const Node* dependency : node->dependencies) {
      step.after.push_back(place[dependency]);
      if (node->kind(dependency).programmatic()) step.programmatic.push_back(place[dependency]);
    }
    std::sort(step.after.begin(), step.after.end());
    if (auto* child = std::get_if<ChildWork>(&step.work)) {
      auto inner = flatten(*child->graph);
      if (!inner) return inner;
      const std::size_t base = steps.size();
      const std::vector<std::size_t> front = step.after;
      for (Step& each : *inner) {
        for (auto* list : {&each.after, &each.programmatic})
          for (std::size_t& index : *list) index += base;
        // The child's first steps come after what it comes after, and it is done when all are.
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
  // As an H200 has it.
  for (const auto& condition : graph.conditions)
    if (!decides(*steps, *condition)) return fail(Status::invalid_value);
  std::shared_ptr<GraphExec> exec(new GraphExec(flags));
  exec->steps_ = std::move(*steps);
  exec->source_ = graph.clone();
  exec->source_->embedded = true;
  return exec;
}

// Does a node in one of these steps depend on the condition?
bool GraphExec::decides(const Steps& steps, const Condition& condition) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    const auto* chooses = std::get_if<ConditionalWork>(&step.work);
    return (chooses && chooses->node->condition.get() == &condition) ||
           std::any_of(step.bodies.begin(), step.bodies.end(),
                       [&](const Steps& body) { return decides(body, condition); });
  });
}

// A launch of the graph, or one execution of a conditional node's body. Steps are counted from 1,
// as the tasks of a stream are.
class GraphExec::Run {
 public:
  // `told`: how many steps those who listen have heard of. `front`: the last of them that what is
  // first here comes after.
  Run(const Steps& steps, Stream& stream, std::atomic<std::uint64_t>& told, std::uint64_t front = 0)
      : steps_(steps),
        stream_(stream),
        done_(std::make_shared<TaskCount>(stream.id())),
        told_(told),
        front_(front),
        numbers_(steps.size()) {}

  void all() {
    std::unique_lock lock(mutex_);
    while (next_ < steps_.size()) {
      const std::size_t index = next_++;
      lock.unlock();
      one(index, nullptr);
      lock.lock();
      finish(lock);
    }
  }

 private:
  class Behind final : public machine::Dependents {
   public:
    Behind(Run& run, std::size_t index) : run_(run), index_(index) {}
    void requested() override { run_.overlapped_ = index_; }
    void may_begin() override { run_.begin_next(index_); }

   private:
    Run& run_;
    const std::size_t index_;
  };

  // Need a step not wait for the end of the one right in front, which lets others begin before?
  bool overlaps(std::size_t index) const {
    const Step& step = steps_[index];
    const auto early = [&](std::size_t other) { return contains(step.programmatic, other); };
    return step.enabled && overlapped_ + 1 == index && early(index - 1) &&
           std::all_of(step.after.begin(), step.after.end(),
                       [&](std::size_t other) { return early(other) || other < first_; });
  }

  void one(std::size_t index, InFront* in_front) {
    const Step& step = steps_[index];
    const bool dependent = overlaps(index);
    if (!dependent) first_ = index;
    observe(index);
    Behind behind(*this, index);
    if (step.enabled)
      Standing{in_front, &behind, dependent}.within([&] { perform(step.work, stream_); });
    if (!step.bodies.empty()) choose(index);
  }

  // Once for each body that runs, what is told of the node comes after all of that body.
  void choose(std::size_t index) {
    const Step& step = steps_[index];
    const Conditional& node = *std::get<ConditionalWork>(step.work).node;
    const Device& device = stream_.device();
    for (std::size_t body = node.chosen(); body < step.bodies.size(); body = node.chosen()) {
      if (device.fault() != Status::success || device.cancel) return;
      Run run(step.bodies[body], stream_, told_, numbers_[index]);
      run.all();
      const std::uint64_t before = numbers_[index];
      observe_step(stream_, work_, numbers_[index] = ++told_);
      observe_step_after(stream_, work_, before, false);
      for (const std::uint64_t each : run.numbers_) observe_step_after(stream_, work_, each, false);
      if (node.kind != Conditional::Kind::while_) return;
    }
  }

  void observe(std::size_t index) {
    const Step& step = steps_[index];
    observe_step(stream_, work_, numbers_[index] = ++told_);
    if (front_ != 0 && step.after.empty()) observe_step_after(stream_, work_, front_, false);
    for (const std::size_t other : step.after)
      observe_step_after(stream_, work_, numbers_[other], contains(step.programmatic, other));
  }

  void begin_next(std::size_t index) {
    std::unique_lock lock(mutex_);
    if (!begins_early(index + 1) || next_ != index + 1 || next_ == steps_.size() ||
        !overlaps(next_))
      return;
    ++next_;
    const std::uint64_t work = work_;
    early_.push_back(begin_early({done_, index + 1}, [this, index, work](InFront& in_front) {
      stream_.as_worker(work, [&] { one(index + 1, &in_front); });
    }));
    const auto in_front = early_.back().in_front;
    lock.unlock();
    in_front->wait_settled();
  }

  // A step is done, and then those that began early meanwhile.
  void finish(std::unique_lock<std::mutex>& lock) {
    for (; !early_.empty(); early_.pop_front()) {
      done_->finish_one();
      std::thread& next = early_.front().thread;
      lock.unlock();
      next.join();
      lock.lock();
    }
    done_->finish_one();
  }

  const Steps& steps_;
  Stream& stream_;
  const std::uint64_t work_ = Stream::work_now();
  const std::shared_ptr<TaskCount> done_;
  std::atomic<std::uint64_t>& told_;
  const std::uint64_t front_;
  std::vector<std::uint64_t> numbers_;  // of each step, as who listens knows it
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::deque<Early> early_;  // in the order of their steps
  // The last step that is not dependent: all before it are done. The last whose kernel let others
  // begin before its end.
  std::atomic<std::size_t> first_{0}, overlapped_{~std::size_t{0}};
};

void GraphExec::begin_conditions(const Steps& steps) {
  for (const Step& step : steps) {
    if (const auto* chooses = std::get_if<ConditionalWork>(&step.work))
      chooses->node->condition->begin();
    for (const Steps& body : step.bodies) begin_conditions(body);
  }
}

Status GraphExec::launch(const std::shared_ptr<Stream>& stream) {
  if (Status status = allowed_now(*stream); status != Status::success) return status;
  auto steps = std::make_shared<Steps>();
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
  const auto run = [steps, raw = stream.get()] {
    std::atomic<std::uint64_t> told{0};
    begin_conditions(*steps);
    Run(*steps, *raw, told).all();
  };
  Ticket ticket = stream->submit(run, after);
  reservation.launched(ticket);
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
  if (std::holds_alternative<ConditionalWork>(work)) return Status::invalid_value;
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
  const Updated updated = difference(steps_, *fresh);
  if (updated.change == Change::none) replace(steps_, *fresh);
  return updated;
}

GraphExec::Updated GraphExec::difference(const Steps& old, const Steps& fresh) {
  if (fresh.size() != old.size()) return {Change::topology, nullptr};
  for (std::size_t i = 0; i < old.size(); ++i) {
    auto* node = const_cast<Node*>(fresh[i].node);
    if (fresh[i].after != old[i].after || fresh[i].bodies.size() != old[i].bodies.size())
      return {Change::topology, node};
    if (fresh[i].work.index() != old[i].work.index()) return {Change::node_type, node};
    for (std::size_t b = 0; b < old[i].bodies.size(); ++b)
      if (const Updated inside = difference(old[i].bodies[b], fresh[i].bodies[b]);
          inside.change != Change::none)
        return inside;
  }
  return {};
}

// Later calls may name the nodes of the graph it was made from, so those stay.
void GraphExec::replace(Steps& old, Steps& fresh) {
  for (std::size_t i = 0; i < old.size(); ++i) {
    old[i].work = std::move(fresh[i].work);
    for (std::size_t b = 0; b < old[i].bodies.size(); ++b)
      replace(old[i].bodies[b], fresh[i].bodies[b]);
  }
}

}  // namespace inflight::cuda
