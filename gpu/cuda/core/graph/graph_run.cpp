// A launch of an instantiated graph: its steps, and what its kernels launch.
#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <thread>

#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/core/graph/graph_kernels.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/stream/overlap.hpp"

namespace inflight::cuda {
namespace {

bool contains(const std::vector<std::size_t>& list, std::size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

// One launch of a graph with what its kernels launch beside it; tails come after it (CUDA
// Programming Guide, "Device Graph Launch"). By default graphs beside it begin once its own steps
// are done, as no kernel may count on more; early with `--async early`, and where its kernels do
// nothing but look at memory.
class GraphExec::Launch final : public GraphKernels {
 public:
  struct Asked {
    std::shared_ptr<GraphExec> exec;
    std::shared_ptr<const Steps> steps;
    std::uint64_t front = 0;  // the step that it comes after; 0: none
    bool by_kernel = false;
  };

  // What runs beside a launch, one graph after the other.
  class Beside {
   public:
    Beside(Stream& stream, std::atomic<std::uint64_t>& told) : stream_(stream), told_(told) {}
    ~Beside() { join(); }

    void add(Asked asked) {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(asked));
      ++added_;
    }
    std::size_t added() const { return added_; }

    // On a thread of its own, unless one is at it.
    void begin() {
      const std::lock_guard lock(mutex_);
      if (busy_ || queue_.empty()) return;
      busy_ = true;
      if (thread_.joinable()) thread_.join();  // it is done
      thread_ = std::thread([this] {
        try {
          stream_.as_worker(work_, [this] { work(); });
        } catch (...) {
          thrown_ = std::current_exception();
          const std::lock_guard again(mutex_);
          busy_ = false;
        }
      });
    }
    // Until what has begun has ended.
    void join() {
      std::thread begun;
      {
        const std::lock_guard lock(mutex_);
        begun.swap(thread_);
      }
      if (begun.joinable()) begun.join();
    }
    // All that is left; the steps that come after all of it.
    std::vector<std::uint64_t> finish() {
      join();
      work();
      if (thrown_) std::rethrow_exception(thrown_);
      return std::move(ends_);
    }

   private:
    void work() {
      for (;;) {
        Asked next;
        {
          const std::lock_guard lock(mutex_);
          busy_ = !queue_.empty();
          if (!busy_) return;
          next = std::move(queue_.front());
          queue_.pop_front();
        }
        const std::uint64_t end = whole(std::move(next), stream_, told_, *this);
        const std::lock_guard lock(mutex_);
        ends_.push_back(end);
      }
    }

    Stream& stream_;
    std::atomic<std::uint64_t>& told_;
    const std::uint64_t work_ = Stream::work_now();
    std::mutex mutex_;
    std::deque<Asked> queue_;
    bool busy_ = false;
    std::thread thread_;
    std::exception_ptr thrown_;
    std::vector<std::uint64_t> ends_;
    std::atomic<std::size_t> added_{0};
  };

  // `siblings`: what runs beside the launch that this one came of.
  Launch(Asked asked, Stream& stream, std::atomic<std::uint64_t>& told, Beside& siblings)
      : asked_(std::move(asked)),
        stream_(stream),
        told_(told),
        siblings_(siblings),
        beside_(stream, told) {}
  ~Launch() override {
    if (asked_.by_kernel) --asked_.exec->launched_by_kernels_;
  }

  std::uint64_t graph() const override {
    return asked_.exec->for_devices() ? reinterpret_cast<std::uintptr_t>(asked_.exec.get()) : 0;
  }
  Status launch(std::uint64_t graph, std::uint64_t stream, std::uint64_t step) override;
  void polls() override {
    beside_.begin();
    siblings_.begin();
  }

  // Those who listen hear of one step at a time.
  void stand_alone() {
    if (observes(check::Topic::host)) beside_.join();
  }
  // Its steps and what runs beside them; the number of a step that comes after all of that.
  std::uint64_t steps();
  std::deque<Asked> tails() { return std::move(tails_); }

  // A launch and its tails, each with its own before the next.
  static std::uint64_t whole(Asked first, Stream& stream, std::atomic<std::uint64_t>& told,
                             Beside& siblings);

 private:
  std::uint64_t join(const std::vector<std::uint64_t>& steps);

  const Asked asked_;
  Stream& stream_;
  std::atomic<std::uint64_t>& told_;
  Beside& siblings_;
  Beside beside_;
  std::mutex mutex_;
  std::deque<Asked> tails_;
  bool itself_ = false;  // it is among its tails
};

// A launch of the graph, or one execution of a conditional node's body. Steps are counted from 1,
// as the tasks of a stream are.
class GraphExec::Run {
 public:
  // `told`: how many steps those who listen have heard of. `front`: the last of them that what is
  // first here comes after.
  Run(const Steps& steps, Launch& launch, Stream& stream, std::atomic<std::uint64_t>& told,
      std::uint64_t front)
      : steps_(steps),
        launch_(launch),
        stream_(stream),
        done_(std::make_shared<TaskCount>(stream.number())),
        told_(told),
        front_(front),
        numbers_(steps.size()),
        begins_(steps.size()) {}

  // As those who listen know the steps.
  const std::vector<std::uint64_t>& numbers() const { return numbers_; }

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

  // Of a node that kernels may change, what they have made of it.
  void do_work(const Work& work) {
    const auto* const kernel = std::get_if<KernelWork>(&work);
    if (!kernel || !kernel->updatable) return perform(work, stream_);
    if (auto changed = kernel->updatable->now()) perform(Work(std::move(*changed)), stream_);
  }

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
    launch_.stand_alone();
    observe(index);
    Behind behind(*this, index);
    const GraphKernels::Here here(launch_, numbers_[index]);
    if (step.enabled) Standing{in_front, &behind, dependent}.within([&] { do_work(step.work); });
    if (!step.bodies.empty()) choose(index);
  }

  // Once for each body that runs, what is told of the node comes after all of that body.
  void choose(std::size_t index) {
    const Step& step = steps_[index];
    const Conditional& node = *std::get<ConditionalWork>(step.work).node;
    const Device& device = stream_.device();
    for (std::size_t body = node.chosen(); body < step.bodies.size(); body = node.chosen()) {
      if (device.fault() != Status::success || device.cancel) return;
      Run run(step.bodies[body], launch_, stream_, told_, numbers_[index]);
      run.all();
      const std::uint64_t before = numbers_[index];
      observe_step(stream_, work_, numbers_[index] = ++told_);
      observe_step_after(stream_, work_, before, false);
      for (const std::uint64_t each : run.numbers_) observe_step_after(stream_, work_, each, false);
      if (node.kind != Conditional::Kind::while_) return;
    }
  }

  // Who comes after its begin comes after a step that is right in front of it.
  void observe(std::size_t index) {
    if (steps_[index].awaited_at_begin) observe_as(index, begins_[index]);
    observe_as(index, numbers_[index]);
  }
  void observe_as(std::size_t index, std::uint64_t& number) {
    const Step& step = steps_[index];
    observe_step(stream_, work_, number = ++told_);
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
  Launch& launch_;
  Stream& stream_;
  const std::uint64_t work_ = Stream::work_now();
  const std::shared_ptr<TaskCount> done_;
  std::atomic<std::uint64_t>& told_;
  const std::uint64_t front_;
  std::vector<std::uint64_t> numbers_;  // of each step, as who listens knows it
  std::vector<std::uint64_t> begins_;   // and of one right in front of it
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

// Graphs that kernels may launch are on the device, and run once at a time; one may follow itself.
Status GraphExec::Launch::launch(std::uint64_t graph, std::uint64_t stream, std::uint64_t step) {
  const auto exec = Core::get().graph_execs.find(reinterpret_cast<const void*>(graph));
  if (!exec || !exec->for_devices()) return Status::invalid_value;
  const bool tail = stream == tail_stream;
  if (!tail && stream != detached_stream && stream != sibling_stream) return Status::invalid_value;
  Asked asked{exec, nullptr, tail ? 0 : step, true};
  {
    const std::lock_guard lock(exec->mutex_);
    asked.steps = exec->uploaded_;
  }
  if (!asked.steps) return Status::invalid_value;
  const std::lock_guard lock(mutex_);
  const bool again = tail && exec == asked_.exec && !std::exchange(itself_, true);
  if (exec->launched_by_kernels_++ != (again && asked_.by_kernel ? 1 : 0)) {
    --exec->launched_by_kernels_;
    return Status::invalid_value;
  }
  if (tail) {
    tails_.push_back(std::move(asked));
    return Status::success;
  }
  Beside& to = stream == sibling_stream ? siblings_ : beside_;
  to.add(std::move(asked));
  if (begins_early(to.added()) && !observes(check::Topic::host)) to.begin();
  return Status::success;
}

// A step that comes after the others.
std::uint64_t GraphExec::Launch::join(const std::vector<std::uint64_t>& steps) {
  const std::uint64_t work = Stream::work_now(), number = ++told_;
  observe_step(stream_, work, number);
  for (const std::uint64_t each : steps) observe_step_after(stream_, work, each, false);
  return number;
}

std::uint64_t GraphExec::Launch::steps() {
  begin_conditions(*asked_.steps);
  Run run(*asked_.steps, *this, stream_, told_, asked_.front);
  run.all();
  if (tails_.empty() && beside_.added() == 0 && !asked_.by_kernel) return 0;
  std::vector<std::uint64_t> all = run.numbers();
  for (const std::uint64_t each : beside_.finish()) all.push_back(each);
  return join(all);
}

std::uint64_t GraphExec::Launch::whole(Asked first, Stream& stream,
                                       std::atomic<std::uint64_t>& told, Beside& siblings) {
  std::uint64_t end = 0;
  std::deque<Asked> queue;
  queue.push_back(std::move(first));
  while (!queue.empty()) {
    Asked next = std::move(queue.front());
    queue.pop_front();
    if (end != 0) next.front = end;
    Launch launch(std::move(next), stream, told, siblings);
    if (stream.device().fault() == Status::success && !stream.device().cancel) end = launch.steps();
    std::deque<Asked> tails = launch.tails();
    queue.insert(queue.begin(), std::make_move_iterator(tails.begin()),
                 std::make_move_iterator(tails.end()));
  }
  return end;
}

void GraphExec::run(const std::shared_ptr<GraphExec>& exec, std::shared_ptr<const Steps> steps,
                    Stream& stream) {
  std::atomic<std::uint64_t> told{0};
  Launch::Beside siblings(stream, told);
  Launch::whole({exec, std::move(steps)}, stream, told, siblings);
  siblings.finish();
}

}  // namespace inflight::cuda
