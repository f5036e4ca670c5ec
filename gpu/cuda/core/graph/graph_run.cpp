// A launch of an executable graph: its steps, and the graphs that its kernels launch.
#include <atomic>
#include <deque>
#include <exception>
#include <thread>

#include "gpu/cuda/core/graph/graph_steps.hpp"
#include "gpu/cuda/core/queue/edges.hpp"
#include "gpu/cuda/core/report/observer.hpp"

namespace inflight::cuda {
// One launch of a graph, with the graphs that its kernels launch beside it. Tail launches come
// after it (CUDA Programming Guide, "Device Graph Launch"). By default, graphs beside it begin once
// its own steps are done, which is all that kernels may rely on. They begin early with `--async
// early`, and when its kernels do nothing but poll memory.
class GraphExec::Launch final : public GraphKernels {
 public:
  struct LaunchRequest {
    std::shared_ptr<GraphExec> exec;
    std::shared_ptr<const Steps> steps;
    std::uint64_t front = 0;  // the step it comes after; 0: none
    bool by_kernel = false;
  };

  // The graphs that run beside a launch, one after the other.
  class ConcurrentGraphs {
   public:
    ConcurrentGraphs(Stream& stream, std::atomic<std::uint64_t>& last_step)
        : stream_(stream), last_step_(last_step) {}
    ~ConcurrentGraphs() { join(); }

    void add(LaunchRequest request) {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(request));
      ++added_;
    }
    std::size_t added() const { return added_; }

    // Starts the queue on a new thread, unless one already runs it.
    void begin() {
      const std::lock_guard lock(mutex_);
      if (busy_ || queue_.empty()) return;
      busy_ = true;
      if (thread_.joinable()) thread_.join();  // it has finished its work
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
    // Waits until the graphs that have begun have ended.
    void join() {
      std::thread begun;
      {
        const std::lock_guard lock(mutex_);
        begun.swap(thread_);
      }
      if (begun.joinable()) begun.join();
    }
    // Runs all that is left. Returns the steps that come after all of it.
    std::vector<std::uint64_t> finish() {
      join();
      work();
      if (thrown_) std::rethrow_exception(thrown_);
      return std::move(ends_);
    }

   private:
    void work() {
      for (;;) {
        LaunchRequest next;
        {
          const std::lock_guard lock(mutex_);
          busy_ = !queue_.empty();
          if (!busy_) return;
          next = std::move(queue_.front());
          queue_.pop_front();
        }
        const std::uint64_t end = run_with_tails(std::move(next), stream_, last_step_, *this);
        const std::lock_guard lock(mutex_);
        ends_.push_back(end);
      }
    }

    Stream& stream_;
    std::atomic<std::uint64_t>& last_step_;
    const std::uint64_t work_ = Stream::work_now();
    std::mutex mutex_;
    std::deque<LaunchRequest> queue_;
    bool busy_ = false;
    std::thread thread_;
    std::exception_ptr thrown_;
    std::vector<std::uint64_t> ends_;
    std::atomic<std::size_t> added_{0};
  };

  // `siblings`: the graphs beside the launch that started this one.
  Launch(LaunchRequest request, Stream& stream, std::atomic<std::uint64_t>& last_step,
         ConcurrentGraphs& siblings)
      : request_(std::move(request)),
        stream_(stream),
        last_step_(last_step),
        siblings_(siblings),
        concurrent_(stream, last_step) {}
  ~Launch() override {
    if (request_.by_kernel) --request_.exec->launched_by_kernels_;
  }

  std::uint64_t graph() const override {
    return request_.exec->for_devices() ? reinterpret_cast<std::uintptr_t>(request_.exec.get()) : 0;
  }
  Status launch(std::uint64_t graph, std::uint64_t stream, std::uint64_t step) override;
  void note_polling() override {
    concurrent_.begin();
    siblings_.begin();
  }

  void join_concurrent() override {
    if (observes(check::Topic::host)) concurrent_.join();
  }
  // Runs its steps and the graphs beside them. Returns a step that comes after all of that, or 0.
  std::uint64_t steps();
  std::deque<LaunchRequest> tails() { return std::move(tails_); }

  // Runs a launch and its tails. Each tail's own tails run before the next tail.
  static std::uint64_t run_with_tails(LaunchRequest first, Stream& stream,
                                      std::atomic<std::uint64_t>& last_step,
                                      ConcurrentGraphs& siblings);

 private:
  std::uint64_t join(const std::vector<std::uint64_t>& steps);

  const LaunchRequest request_;
  Stream& stream_;
  std::atomic<std::uint64_t>& last_step_;
  ConcurrentGraphs& siblings_;
  ConcurrentGraphs concurrent_;
  std::mutex mutex_;
  std::deque<LaunchRequest> tails_;
  bool itself_ = false;  // it is one of its own tails
};

void GraphExec::begin_conditions(const Steps& steps) {
  for (const Step& step : steps) {
    if (const auto* chooses = std::get_if<ConditionalWork>(&step.work))
      chooses->node->condition->begin();
    for (const Steps& body : step.bodies) begin_conditions(body);
  }
}

// A kernel may launch only graphs that are on the device, each once at a time. A graph may be its
// own tail.
Status GraphExec::Launch::launch(std::uint64_t graph, std::uint64_t stream, std::uint64_t step) {
  const auto exec = Core::get().graph_execs.find(reinterpret_cast<const void*>(graph));
  if (!exec || !exec->for_devices()) return Status::invalid_value;
  const bool tail = stream == tail_stream;
  if (!tail && stream != detached_stream && stream != sibling_stream) return Status::invalid_value;
  LaunchRequest request{exec, nullptr, tail ? 0 : step, true};
  {
    const std::lock_guard lock(exec->mutex_);
    request.steps = exec->uploaded_;
  }
  if (!request.steps) return Status::invalid_value;
  const std::lock_guard lock(mutex_);
  const bool again = tail && exec == request_.exec && !std::exchange(itself_, true);
  if (exec->launched_by_kernels_++ != (again && request_.by_kernel ? 1 : 0)) {
    --exec->launched_by_kernels_;
    return Status::invalid_value;
  }
  if (tail) {
    tails_.push_back(std::move(request));
    return Status::success;
  }
  ConcurrentGraphs& to = stream == sibling_stream ? siblings_ : concurrent_;
  to.add(std::move(request));
  if (begins_early(to.added()) && !observes(check::Topic::host)) to.begin();
  return Status::success;
}

// Reports a step that comes after the others.
std::uint64_t GraphExec::Launch::join(const std::vector<std::uint64_t>& steps) {
  const std::uint64_t work = Stream::work_now(), number = ++last_step_;
  observe_step(stream_, work, number);
  for (const std::uint64_t each : steps) observe_step_after(stream_, work, each, false);
  return number;
}

std::uint64_t GraphExec::Launch::steps() {
  begin_conditions(*request_.steps);
  Run run(*request_.steps, *this, stream_, last_step_, request_.front);
  run.all();
  if (tails_.empty() && concurrent_.added() == 0 && !request_.by_kernel) return 0;
  std::vector<std::uint64_t> all = run.numbers();
  for (const std::uint64_t each : concurrent_.finish()) all.push_back(each);
  return join(all);
}

std::uint64_t GraphExec::Launch::run_with_tails(LaunchRequest first, Stream& stream,
                                                std::atomic<std::uint64_t>& last_step,
                                                ConcurrentGraphs& siblings) {
  std::uint64_t end = 0;
  std::deque<LaunchRequest> queue;
  queue.push_back(std::move(first));
  while (!queue.empty()) {
    LaunchRequest next = std::move(queue.front());
    queue.pop_front();
    if (end != 0) next.front = end;
    Launch launch(std::move(next), stream, last_step, siblings);
    if (stream.device().fault() == Status::success) end = launch.steps();
    std::deque<LaunchRequest> tails = launch.tails();
    queue.insert(queue.begin(), std::make_move_iterator(tails.begin()),
                 std::make_move_iterator(tails.end()));
  }
  return end;
}

void GraphExec::run(const std::shared_ptr<GraphExec>& exec, std::shared_ptr<const Steps> steps,
                    Stream& stream) {
  std::atomic<std::uint64_t> last_step{0};
  Launch::ConcurrentGraphs siblings(stream, last_step);
  Launch::run_with_tails({exec, std::move(steps)}, stream, last_step, siblings);
  siblings.finish();
}

}  // namespace inflight::cuda
