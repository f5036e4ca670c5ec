// Runs the steps of an executable graph.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/graph/turns.hpp"
#include "gpu/cuda/core/queue/edges.hpp"
#include "gpu/cuda/core/queue/overlap.hpp"
#include "gpu/cuda/core/work/graph_kernels.hpp"

namespace inflight::cuda {

// A launch of the graph, or one execution of a conditional node's body. Steps are counted from 1,
// like the tasks of a stream.
class GraphExec::Run {
 public:
  // `last_step`: the number of the last step reported to listeners. `front`: the number of the
  // reported step that this run's first steps come after; 0: none.
  Run(const Steps& steps, GraphKernels& launch, Stream& stream,
      std::atomic<std::uint64_t>& last_step, std::uint64_t front)
      : steps_(steps),
        launch_(launch),
        stream_(stream),
        done_(std::make_shared<TaskCount>(stream.number())),
        last_step_(last_step),
        front_(front),
        numbers_(steps.size()),
        begins_(steps.size()) {}

  // The numbers under which the steps were reported to listeners.
  const std::vector<std::uint64_t>& numbers() const { return numbers_; }

  void all() {
    std::unique_lock lock(mutex_);
    while (next_ < steps_.size()) {
      const std::size_t index = next_++;
      lock.unlock();
      if (would_wait(index)) return by_turns(index);
      one(index, nullptr);
      lock.lock();
      finish(lock);
    }
  }

 private:
  static bool contains(const std::vector<std::size_t>& list, std::size_t value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }

  class Behind final : public machine::Dependents {
   public:
    Behind(Run& run, std::size_t index) : run_(run), index_(index) {}
    void requested() override { run_.overlapped_ = index_; }
    void may_begin() override { run_.begin_next(index_); }

   private:
    Run& run_;
    const std::size_t index_;
  };

  // Does a step's work. If kernels may change the node, does its current work.
  void do_work(const Work& work) {
    const auto* const kernel = std::get_if<KernelWork>(&work);
    if (!kernel || !kernel->updatable) return perform(work, stream_);
    if (auto changed = kernel->updatable->now()) perform(Work(std::move(*changed)), stream_);
  }

  // Used once a step has to wait for a value. From then on no step begins early.
  void by_turns(std::size_t first) {
    next_ = steps_.size();
    turns_ = true;
    Device& device = stream_.device();
    take_turns(
        steps_, first, [this](std::size_t index) { one(index, nullptr); },
        [this](std::size_t index, std::size_t from) { return go_on(index, from); },
        [&] { return device.cancel || device.fault() != Status::success; });
    if (device.cancel) ++device.stopped;
  }

  const std::vector<ValueOperation>* operations(std::size_t index) const {
    const auto* const values = std::get_if<ValueWork>(&steps_[index].work);
    return values ? &values->operations : nullptr;
  }
  bool would_wait(std::size_t index) const {
    const auto* const list = operations(index);
    return list && !std::all_of(list->begin(), list->end(), can_go_on);
  }
  // The `go_on` of take_turns().
  std::size_t go_on(std::size_t index, std::size_t from) {
    const auto& list = *operations(index);
    std::size_t at = from;
    for (; at < list.size() && can_go_on(list[at]); ++at) {
      if (at == from) {
        launch_.join_concurrent();
        from == 0 ? observe(index) : observe_again(index);
      }
      if (!perform(list[at], stream_)) break;
    }
    return at;
  }

  // True if the step may begin before the end of the step before it, because that one allows it.
  bool overlaps(std::size_t index) const {
    const Step& step = steps_[index];
    const auto early = [&](std::size_t other) { return contains(step.programmatic, other); };
    return step.enabled && !turns_ && overlapped_ + 1 == index && early(index - 1) &&
           std::all_of(step.after.begin(), step.after.end(),
                       [&](std::size_t other) { return early(other) || other < first_; });
  }

  void one(std::size_t index, InFront* in_front) {
    const Step& step = steps_[index];
    const bool dependent = overlaps(index);
    if (!dependent) first_ = index;
    launch_.join_concurrent();
    observe(index);
    Behind behind(*this, index);
    const GraphKernels::Here here(launch_, numbers_[index]);
    const bool programmatic = !step.programmatic.empty();
    if (step.enabled)
      Standing{in_front, &behind, dependent, programmatic}.within([&] { do_work(step.work); });
    if (!step.bodies.empty()) choose(index);
  }

  // Runs the bodies of a conditional node. After each, reports the node anew, ordered after all of
  // the body.
  void choose(std::size_t index) {
    const Step& step = steps_[index];
    const Conditional& node = *std::get<ConditionalWork>(step.work).node;
    Device& device = stream_.device();
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t rounds = 0;
    for (std::size_t body = node.chosen(); body < step.bodies.size(); body = node.chosen()) {
      if (device.cancel) ++device.stopped;
      if (device.fault() != Status::success || device.cancel) return;
      Run run(step.bodies[body], launch_, stream_, last_step_, numbers_[index]);
      run.all();
      observe_again(index);
      for (const std::uint64_t each : run.numbers_) observe_step_after(stream_, work_, each, false);
      if (node.kind != Conditional::Kind::while_) return;
      ++rounds;
      if (const auto limit = settings().timeout;
          limit.count() != 0 && std::chrono::steady_clock::now() - begin > limit)
        return device.kill(
            Status::launch_timeout,
            fmt::format("a while node of a graph was stopped after {} ms, the limit that --timeout "
                        "sets; its body has run {} times",
                        limit.count(), rounds));
    }
  }

  // If others wait for its begin, first reports a step right before it, which they come after.
  void observe(std::size_t index) {
    if (steps_[index].awaited_at_begin) observe_as(index, begins_[index]);
    observe_as(index, numbers_[index]);
  }
  // Reports a later part of the step, ordered after its earlier part.
  void observe_again(std::size_t index) {
    const std::uint64_t before = numbers_[index];
    observe_step(stream_, work_, numbers_[index] = ++last_step_);
    observe_step_after(stream_, work_, before, false);
  }
  void observe_as(std::size_t index, std::uint64_t& number) {
    const Step& step = steps_[index];
    observe_step(stream_, work_, number = ++last_step_);
    if (front_ != 0 && step.after.empty()) observe_step_after(stream_, work_, front_, false);
    for (const std::size_t other : step.after) {
      const bool begun = contains(step.after_begin, other);
      observe_step_after(stream_, work_, begun ? begins_[other] : numbers_[other],
                         contains(step.programmatic, other));
    }
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

  // Counts a step as done, and then those that began early in the meantime.
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
  GraphKernels& launch_;
  Stream& stream_;
  const std::uint64_t work_ = Stream::work_now();
  const std::shared_ptr<TaskCount> done_;
  std::atomic<std::uint64_t>& last_step_;
  const std::uint64_t front_;
  std::vector<std::uint64_t> numbers_;  // of each step, as reported to listeners
  std::vector<std::uint64_t> begins_;   // of the step right before that stands for its begin
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::deque<Early> early_;  // in the order of their steps
  bool turns_ = false;
  // `first_`: the last step that is not dependent; all steps before it are done. `overlapped_`: the
  // last step whose kernel allowed an early begin.
  std::atomic<std::size_t> first_{0}, overlapped_{~std::size_t{0}};
};

}  // namespace inflight::cuda
