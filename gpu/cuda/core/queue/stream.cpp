// Streams: a queue and a thread each; tickets order them among one another.
#include "gpu/cuda/core/queue/stream.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "gpu/cuda/core/base/guard.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/queue/edges.hpp"
#include "gpu/cuda/core/queue/overlap.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/host/awake_time.hpp"

namespace inflight::cuda {

void TaskCount::finish_one() {
  bool awaited;
  {
    std::lock_guard lock(mutex_);
    awaited = ++done_ >= awaited_;
    if (awaited) awaited_ = nothing;
  }
  if (awaited) changed_.notify_all();
}

void TaskCount::wait(std::uint64_t number, std::uint64_t stamp) const {
  const watch::Waiting not_held(!Stream::on_worker(), stamp);
  std::unique_lock lock(mutex_);
  while (!is_done(number)) changed_.wait(lock);
}

bool TaskCount::wait_until(std::uint64_t number,
                           std::chrono::steady_clock::time_point deadline) const {
  const watch::Waiting nothing_held(!Stream::on_worker());
  std::unique_lock lock(mutex_);
  while (!is_done(number))
    if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) return done_ >= number;
  return true;
}

// If not, the caller waits for it.
bool TaskCount::is_done(std::uint64_t number) const {
  if (done_ >= number) return true;
  awaited_ = std::min(awaited_, number);
  return false;
}

bool TaskCount::reached(std::uint64_t number) const {
  std::lock_guard lock(mutex_);
  return done_ >= number;
}

struct Stream::Queue {
  std::mutex mutex;
  std::condition_variable changed, room;
  std::deque<Item> items;
  std::uint64_t submitted = 0;
  unsigned waiting_for_room = 0;
  bool started = false, closed = false, busy = false;
  std::shared_ptr<TaskCount> count;
  std::deque<Early> early;  // in the order of their tasks
  // The last task whose kernel let others begin before its end.
  std::atomic<std::uint64_t> overlapped{~std::uint64_t{0}};
  unsigned waiting_for_all = 0;  // threads that submit no more before all is done
  // The mark that the stream's own thread has taken and may begin now; else 0.
  std::uint64_t taken_mark = 0;
  std::vector<Ticket> taken_after;

  explicit Queue(std::uint64_t stream) : count(std::make_shared<TaskCount>(stream)) {}
  Item take() {
    Item item = std::move(items.front());
    items.pop_front();
    if (waiting_for_room != 0) room.notify_one();
    return item;
  }
  bool next_is_prepared() const {
    return !items.empty() && items.front().kernel && items.front().kernel->prepared();
  }
  // A task is done, and then those that began early meanwhile. With the lock.
  void finish(std::unique_lock<std::mutex>& lock) {
    while (!early.empty()) {
      count->finish_one();
      std::thread next = std::move(early.front().thread);
      early.pop_front();
      lock.unlock();
      next.join();
      lock.lock();
    }
    count->finish_one();
  }
};

// What comes after a task's kernel.
class Stream::Behind final : public machine::Dependents {
 public:
  Behind(const Stream& stream, std::uint64_t number) : stream_(stream), number_(number) {}
  void requested() override { stream_.queue_->overlapped = number_; }
  void may_begin() override { stream_.begin_next(number_); }
  machine::NextLaunch* prepare_next() override { return stream_.prepare_next(number_); }

 private:
  const Stream& stream_;
  const std::uint64_t number_;
};

namespace {

// As on a GPU, a launch blocks while so many are pending in its stream.
constexpr std::size_t most_pending = 1024;

thread_local bool worker_thread = false;
thread_local std::uint64_t current_work = 0;

using Edge = check::StreamEdge::Kind;
bool observed() { return observes(check::Topic::host); }

bool all_done(const std::vector<Ticket>& tickets) {
  return std::all_of(tickets.begin(), tickets.end(), [](const Ticket& t) { return t.done(); });
}

constexpr std::uint64_t legacy_stream_id = 7;
std::uint64_t next_stream_id() {
  static std::atomic<std::uint64_t> last{12};  // lower ids are default streams'
  return ++last;
}
std::uint64_t number_of_legacy_stream(const Device& device) {
  return legacy_stream_id | static_cast<std::uint64_t>(device.ordinal) << 32;
}

}  // namespace

bool Stream::Item::may_begin() const { return all_done(after); }
bool Stream::on_worker() { return worker_thread; }

void Stream::refusing_calls(const Task& task) {
  const bool outer = std::exchange(worker_thread, true);
  task();
  worker_thread = outer;
}

std::uint64_t Stream::work_now() { return current_work; }

Stream::Stream(Device& device, Kind kind, bool non_blocking, int priority)
    : device_(device),
      kind_(kind),
      non_blocking_(non_blocking),
      priority_(priority),
      id_(kind == Kind::legacy ? legacy_stream_id : next_stream_id()),
      number_(kind == Kind::legacy ? number_of_legacy_stream(device) : id_),
      queue_(std::make_shared<Queue>(number_)) {}

Stream::~Stream() {
  if (at_end) at_end(*this);
  if (kind_ == Kind::per_thread) observe_edge(Edge::destroyed, *this, 0);
  close();
}

void Stream::close() {
  {
    std::lock_guard lock(queue_->mutex);
    queue_->closed = true;
  }
  queue_->changed.notify_all();
}

void Stream::perform(const Task& task, std::uint64_t number, const std::vector<Ticket>& after,
                     Begins begins, InFront* in_front) const {
  const std::uint64_t outer = std::exchange(current_work, number);
  if (observed()) {
    for (const Ticket& t : after)
      if (t.count) observe_edge(Edge::after, *this, number, t.count->stream, t.number);
    observe_edge(Edge::begun, *this, number);
  }
  Behind behind(*this, number);
  const Status status = guarded("work in a stream", [&] {
    const bool programmatic = begins == Begins::early_too;
    const bool dependent = programmatic && queue_->overlapped + 1 == number;
    Standing{in_front, &behind, dependent, programmatic}.within(task);
    return Status::success;
  });
  if (status != Status::success) device_.kill(status, {});
  observe_edge(Edge::ended, *this, number);
  current_work = outer;
}

void Stream::as_worker(std::uint64_t work, const Task& part) const {
  worker_thread = true;
  current_work = work;
  const Status status = guarded("work in a stream", [&] {
    part();
    return Status::success;
  });
  if (status != Status::success) device_.kill(status, {});
}

void Stream::work(const std::shared_ptr<Queue>& queue) {
  worker_thread = true;
  std::unique_lock lock(queue->mutex);
  std::uint64_t held = 0;  // the last stamp whose hold is over
  for (;;) {
    queue->changed.wait(lock,
                        [&] { return !queue->busy && (!queue->items.empty() || queue->closed); });
    if (queue->items.empty()) return;
    if (const watch::Stamp stamp = queue->items.front().stamp;
        stamp.number != held && watch::holds(stamp)) {
      held = stamp.number;
      lock.unlock();
      watch::wait_for(stamp);
      lock.lock();
      continue;
    }
    Item item = queue->take();
    if (item.mark) queue->taken_mark = item.number, queue->taken_after = item.after;
    lock.unlock();
    for (const Ticket& ticket : item.after) ticket.wait();
    item.keep->perform(item.task, item.number, item.after, item.begins);
    item = {};
    lock.lock();
    queue->taken_mark = 0;
    queue->finish(lock);
  }
}

const GreenContext* Stream::green() const { return context ? context->green : nullptr; }

// The legacy stream's work waits for earlier work of the blocking streams, and theirs for its.
std::vector<Ticket> Stream::implied() const {
  std::vector<Ticket> tickets;
  // Listeners are notified of those, too, that are done already.
  const bool all = observed();
  auto add = [&](const Stream& other) {
    if (Ticket ticket = other.last(); ticket.number && (all || !ticket.done()))
      tickets.push_back(std::move(ticket));
  };
  if (kind_ == Kind::legacy) {
    for (const auto& other : device_.streams())
      if (other.get() != this && !other->non_blocking_ && other->green() == green()) add(*other);
  } else if (!non_blocking_) {
    add(green() ? *context->null_stream : *device_.legacy());
  }
  return tickets;
}

void Stream::begin_next(std::uint64_t number) const {
  // The host may be about to submit it.
  constexpr std::chrono::milliseconds timeout{20};
  if (!begins_early(number)) return;
  const std::shared_ptr<Queue> queue = queue_;
  std::unique_lock lock(queue->mutex);
  host::wait_awake(timeout, [&](auto deadline) {
    return queue->changed.wait_until(lock, deadline, [&] {
      return !queue->items.empty() || queue->closed || queue->waiting_for_all != 0;
    });
  });
  if (queue->items.empty() || queue->items.front().number != number + 1) return;
  const Item& next = queue->items.front();
  if (next.begins != Begins::early_too || !next.may_begin()) return;
  const auto item = std::make_shared<Item>(queue->take());
  queue->early.push_back(begin_early({queue->count, number}, [item](InFront& in_front) {
    worker_thread = true;
    item->keep->perform(item->task, item->number, item->after, item->begins, &in_front);
    item->task = {};
  }));
  const auto in_front = queue->early.back().in_front;
  lock.unlock();
  in_front->wait_settled();
}

// Nobody takes the next task before task `number` is done, except one that may begin early.
machine::NextLaunch* Stream::prepare_next(std::uint64_t number) const {
  KernelTask* kernel = nullptr;
  {
    const std::lock_guard lock(queue_->mutex);
    if (queue_->items.empty() || !queue_->early.empty()) return nullptr;
    const Item& next = queue_->items.front();
    if (next.number == number + 1 && next.begins == Begins::in_order && next.may_begin())
      kernel = next.kernel.get();
  }
  return kernel ? kernel->prepare() : nullptr;
}

Ticket Stream::submit(std::unique_ptr<KernelTask> kernel, Begins begins) {
  Task task = [each = kernel.get()] { each->perform(); };
  return append({std::move(task), {}, {}, 0, begins, {}, false, std::move(kernel)}, WhenFull::wait);
}

Ticket Stream::mark(Task task, std::vector<Ticket> after) {
  return append({std::move(task), std::move(after), {}, 0, Begins::in_order, {}, true},
                WhenFull::wait);
}

Ticket Stream::append(Item item, WhenFull when_full) {
  for (Ticket& ticket : implied()) item.after.push_back(std::move(ticket));
  item.stamp = watch::stamp_now();
  item.keep = shared_from_this();
  Ticket ticket{queue_->count, 0, item.stamp.number};
  watch::report_touches();
  {
    std::unique_lock lock(queue_->mutex);
    ++queue_->waiting_for_room;
    // A stream's thread cannot wait for room that it must make itself.
    const bool grows = worker_thread || when_full == WhenFull::grow;
    const auto has_room = [&] { return grows || queue_->items.size() < most_pending; };
    if (!has_room()) {
      const watch::Waiting nothing_held;
      queue_->room.wait(lock, has_room);
    }
    --queue_->waiting_for_room;
    if (!queue_->started) std::thread(work, queue_).detach();
    queue_->started = true;
    ticket.number = item.number = ++queue_->submitted;
    observe_edge(Edge::submitted, *this, ticket.number);
    queue_->items.push_back(std::move(item));
  }
  queue_->changed.notify_all();
  return ticket;
}

std::uint64_t Stream::try_claim() {
  std::lock_guard lock(queue_->mutex);
  if (!queue_->count->reached(queue_->submitted)) return 0;
  queue_->busy = true;
  return ++queue_->submitted;
}

// The host knows that this and all before it is done.
void Stream::report_waited(const Ticket& ticket, bool staged) const {
  if (!ticket.number || !observed()) return;
  check::StreamEdge event;
  event.kind = Edge::stream_sync;
  event.device = device_.ordinal;
  event.stream = ticket.count->stream;
  event.work = ticket.number;
  event.staged = staged;
  observe_edge(event);
}

void Stream::run(Task task, bool staged) {
  const watch::Waiting nothing_held(!worker_thread);
  const std::vector<Ticket> after = implied();
  const std::uint64_t number = all_done(after) ? try_claim() : 0;
  if (!number) {
    const Ticket ticket = submit(std::move(task), after);
    ticket.wait();
    return report_waited(ticket, staged);
  }
  observe_edge(Edge::submitted, *this, number);
  perform(task, number, after);
  {
    std::lock_guard lock(queue_->mutex);
    queue_->busy = false;
    queue_->count->finish_one();
  }
  queue_->changed.notify_all();
  report_waited({queue_->count, number}, staged);
}

// Worth it because waking another thread can take longer than a short kernel.
bool Stream::help(Only only) const {
  const std::shared_ptr<Queue> queue = queue_;
  std::unique_lock lock(queue->mutex);
  if (worker_thread || queue->busy || queue->items.empty()) return false;
  if (!queue->count->reached(queue->submitted - queue->items.size())) return false;
  const Item& next = queue->items.front();
  if ((only == Only::marks && !next.mark) || !next.may_begin()) return false;
  queue->busy = true;
  worker_thread = true;
  do {
    Item item = queue->take();
    lock.unlock();
    perform(item.task, item.number, item.after, item.begins);
    item = {};
    lock.lock();
    queue->finish(lock);
  } while (queue->next_is_prepared());
  worker_thread = false;
  queue->busy = false;
  const bool wake = !queue->items.empty() || queue->closed;
  lock.unlock();
  if (wake) queue->changed.notify_all();
  return true;
}

bool Stream::settle(std::uint64_t number) const {
  const std::shared_ptr<Queue> queue = queue_;
  while (!queue->count->reached(number)) {
    if (help(Only::marks)) continue;
    std::uint64_t taken = 0;
    {
      const std::lock_guard lock(queue->mutex);
      if (all_done(queue->taken_after)) taken = queue->taken_mark;
    }
    if (taken == 0) return queue->count->reached(number);
    queue->count->wait(taken, watch::Waiting::all);
  }
  return true;
}

// A thread of the host submits nothing while this lives: no kernel need wait for what it submits.
struct Stream::WaitingForAll {
  explicit WaitingForAll(Queue& queue) : queue(queue) { change(1); }
  ~WaitingForAll() { change(-1); }
  void change(int by) const {
    if (settings().timing == async::late) return;
    {
      const std::lock_guard lock(queue.mutex);
      queue.waiting_for_all += static_cast<unsigned>(by);
    }
    queue.changed.notify_all();
  }
  Queue& queue;
};

void Stream::synchronize() const {
  const watch::Waiting nothing_held(!worker_thread);
  const auto wait = [&](const Ticket& ticket) {
    ticket.wait();
    report_waited(ticket);
  };
  if (kind_ == Kind::legacy)
    for (const Ticket& ticket : implied()) wait(ticket);
  const WaitingForAll waiting(*queue_);
  while (help()) {
  }
  wait(last());
}

std::optional<Stream::AttributeValue> Stream::attribute(int id) const {
  std::lock_guard lock(attribute_mutex_);
  auto it = attributes_.find(id);
  if (it == attributes_.end()) return std::nullopt;
  return it->second;
}

void Stream::set_attribute(int id, const AttributeValue& value) {
  std::lock_guard lock(attribute_mutex_);
  attributes_[id] = value;
}

Ticket Stream::last() const {
  std::lock_guard lock(queue_->mutex);
  return {queue_->count, queue_->submitted};
}

std::size_t Stream::waiting() const {
  std::lock_guard lock(queue_->mutex);
  return static_cast<std::size_t>(std::ranges::count(queue_->items, false, &Item::mark));
}

}  // namespace inflight::cuda
