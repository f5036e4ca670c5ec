// A stream: a queue of tasks, done in order by the stream's own thread, which starts with the
// first.
#pragma once
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/queue/context.hpp"
#include "gpu/cuda/core/watch/watch.hpp"

namespace inflight::machine {
class NextLaunch;  // config/dependency.hpp
}

namespace inflight::cuda {

class Device;
class GreenContext;
struct Capture;

// How many tasks of a stream are done. Outlives the stream while somebody holds a ticket.
class TaskCount {
 public:
  explicit TaskCount(std::uint64_t stream, std::uint64_t done = 0) : stream(stream), done_(done) {}
  void finish_one();
  void wait(std::uint64_t number, std::uint64_t stamp) const;
  bool wait_until(std::uint64_t number, std::chrono::steady_clock::time_point deadline) const;
  bool reached(std::uint64_t number) const;
  const std::uint64_t stream;  // its id

 private:
  static constexpr std::uint64_t nothing = ~0ull;
  bool is_done(std::uint64_t number) const;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::uint64_t done_;
  // The first task that a thread waits for: to wake it earlier would cost the stream's thread as
  // long as a small launch.
  mutable std::uint64_t awaited_ = nothing;
};

// A task of a stream that one can wait for. An empty ticket is always done.
struct Ticket {
  std::shared_ptr<const TaskCount> count;
  std::uint64_t number = 0;
  std::uint64_t stamp = watch::Waiting::all;  // of the work
  bool done() const { return !count || count->reached(number); }
  void wait() const {
    if (count) count->wait(number, stamp);
  }
  void wait_until(std::chrono::steady_clock::time_point deadline) const {
    if (count) count->wait_until(number, deadline);
  }
};

using Task = std::function<void()>;

// A task that launches a kernel.
class KernelTask {
 public:
  virtual ~KernelTask() = default;
  virtual void perform() = 0;
  // Prepares the launch while the kernel of the task before it runs. Null: it cannot be.
  virtual machine::NextLaunch* prepare() = 0;
  virtual bool prepared() const = 0;
};

class InFront;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  enum class Kind : std::uint8_t {
    legacy,      // the default stream of a device or a green context: waits for and is awaited by
                 // its blocking streams
    per_thread,  // a host thread's default stream; blocking
    user,
  };
  Stream(Device& device, Kind kind, bool non_blocking, int priority);
  ~Stream();

  // Appends a task. It starts when the stream's earlier tasks are done, those in `after`, and those
  // that the legacy stream's rule adds (CUDA guide, "Implicit synchronization"). Blocks while the
  // stream's queue is full, except with WhenFull::grow and on a stream's thread.
  // With Begins::early_too, it may begin before the previous kernel has ended (overlap.hpp).
  enum class WhenFull : bool { wait, grow };
  enum class Begins : bool { in_order, early_too };
  Ticket submit(Task task, std::vector<Ticket> after = {}, WhenFull when_full = WhenFull::wait,
                Begins begins = Begins::in_order) {
    return append({std::move(task), std::move(after), {}, 0, begins, {}}, when_full);
  }
  Ticket submit(std::unique_ptr<KernelTask> kernel, Begins begins);
  // Appends a task that takes a device no time, such as an event's recording.
  Ticket mark(Task task, std::vector<Ticket> after = {});
  // Task `number` is done, or nothing but marks that may begin is left up to it: they are done
  // then. So whoever knows that the work before a mark is done finds the mark done, too.
  bool settle(std::uint64_t number) const;
  // Does a task in stream order and returns when it is done. An idle stream's task runs on the
  // calling thread. `staged`: as in check::StreamEdge.
  void run(Task task, bool staged = false);
  // The last task submitted: done when the stream is idle.
  Ticket last() const;
  // The tasks that have not begun, without marks.
  std::size_t waiting() const;
  // Waits for it, and in the legacy stream for the work of the blocking streams.
  void synchronize() const;
  bool idle() const { return last().done(); }
  // The thread ends when the submitted tasks are done.
  void close();

  Device& device() const { return device_; }
  Kind kind() const { return kind_; }
  bool non_blocking() const { return non_blocking_; }
  int priority() const { return priority_; }
  std::uint64_t id() const { return id_; }
  // As id(), which the legacy streams of all devices share, but of this stream alone.
  std::uint64_t number() const { return number_; }
  // Attributes of cudaStreamSetAttribute by their numbers. They have no effect.
  using AttributeValue = std::array<char, 64>;
  std::optional<AttributeValue> attribute(int id) const;
  void set_attribute(int id, const AttributeValue& value);
  // The context it was created in; null: the device's primary one.
  ContextRef context;
  // The capture it takes part in, or null. Guarded by graph_mutex() (graph/graph.hpp).
  std::shared_ptr<Capture> capture;
  // Called when the stream ends, or null. Set by a capture that the stream joins.
  void (*at_end)(Stream&) = nullptr;

  // True on the thread of any stream: host functions may not call CUDA there.
  static bool on_worker();
  // Does a task of the program's in which it may not call CUDA either.
  static void refusing_calls(const Task& task);
  // The number of the task that this thread is doing for a stream; 0: none.
  static std::uint64_t work_now();
  // Does a part of task `work` on this thread, which is not the stream's own.
  void as_worker(std::uint64_t work, const Task& part) const;

 private:
  struct Item {
    Task task;
    std::vector<Ticket> after;
    std::shared_ptr<Stream> keep;  // a destroyed stream still finishes its work
    std::uint64_t number = 0;
    Begins begins = Begins::in_order;
    watch::Stamp stamp;
    bool mark = false;
    std::unique_ptr<KernelTask> kernel = nullptr;  // null: `task` is something else
    bool may_begin() const;                        // once the stream's earlier tasks are done
  };
  class Behind;
  struct WaitingForAll;
  struct Queue;  // shared with the worker, which may outlive the stream
  static void work(const std::shared_ptr<Queue>& queue);
  // Does a task. An exception in it, such as a host function's own, kills the context.
  void perform(const Task& task, std::uint64_t number, const std::vector<Ticket>& after,
               Begins begins = Begins::in_order, InFront* in_front = nullptr) const;
  // Begins the next task early, after the kernel of task `number`, if there is one that may.
  void begin_next(std::uint64_t number) const;
  // Prepares the task after task `number`, whose kernel runs, if it can be.
  machine::NextLaunch* prepare_next(std::uint64_t number) const;
  const GreenContext* green() const;
  std::vector<Ticket> implied() const;
  // Takes the place of the next task if the stream is idle: its number, or 0.
  std::uint64_t try_claim();
  void report_waited(const Ticket& ticket, bool staged = false) const;
  Ticket append(Item item, WhenFull when_full);
  // Does the next task on the calling thread, which would wait otherwise. False if none can start
  // now.
  enum class Only : bool { any, marks };
  bool help(Only only = Only::any) const;

  Device& device_;
  Kind kind_;
  bool non_blocking_;
  int priority_;
  std::uint64_t id_, number_;
  std::shared_ptr<Queue> queue_;
  mutable std::mutex attribute_mutex_;
  std::map<int, AttributeValue> attributes_;
};

}  // namespace inflight::cuda
