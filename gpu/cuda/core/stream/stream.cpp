// Streams: a queue and a thread each; tickets order them among one another.
#include "gpu/cuda/core/stream/stream.hpp"

#include <atomic>
#include <thread>

#include "gpu/cuda/core/core.hpp"
#include "gpu/cuda/core/report/guard.hpp"

namespace inflight::cuda {

void TaskCount::finish_one() {
  {
    std::lock_guard lock(mutex_);
    ++done_;
  }
  changed_.notify_all();
}

void TaskCount::wait(std::uint64_t number) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= number; });
}

bool TaskCount::wait_until(std::uint64_t number,
                          std::chrono::steady_clock::time_point deadline) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return done_ >= number; });
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
  std::shared_ptr<TaskCount> count = std::make_shared<TaskCount>();

  Item take() {
    Item item = std::move(items.front());
    items.pop_front();
    if (waiting_for_room != 0) room.notify_one();
    return item;
  }
};

namespace {

// As on a GPU, a launch blocks while so many are pending in its stream.
constexpr std::size_t most_pending = 1024;

thread_local bool worker_thread = false;

std::uint64_t next_stream_id() {
  static std::atomic<std::uint64_t> last{12};  // lower ids are default streams'
  return ++last;
}

}  // namespace

bool Stream::on_worker() { return worker_thread; }

Stream::Stream(Device& device, Kind kind, bool non_blocking, int priority)
    : device_(device),
      kind_(kind),
      non_blocking_(non_blocking),
      priority_(priority),
      id_(kind == Kind::legacy ? 7 : next_stream_id()),
      queue_(std::make_shared<Queue>()) {}

Stream::~Stream() { close(); }

void Stream::close() {
  {
    std::lock_guard lock(queue_->mutex);
    queue_->closed = true;
  }
  queue_->changed.notify_all();
}

void Stream::perform(const Task& task) const {
  const Status status = guarded("work in a stream", [&] {
    task();
    return Status::success;
  });
  if (status != Status::success) device_.kill(status, {});
}

void Stream::work(const std::shared_ptr<Queue>& queue) {
  worker_thread = true;
  std::unique_lock lock(queue->mutex);
  for (;;) {
    queue->changed.wait(lock,
                        [&] { return !queue->busy && (!queue->items.empty() || queue->closed); });
    if (queue->items.empty()) return;
    Item item = queue->take();
    lock.unlock();
    for (const Ticket& ticket : item.after) ticket.wait();
    item.keep->perform(item.task);
    item = {};
    queue->count->finish_one();
    lock.lock();
  }
}

// The legacy stream's work waits for earlier work of the blocking streams, and theirs for its.
std::vector<Ticket> Stream::implied() const {
  std::vector<Ticket> tickets;
  auto add = [&](const Stream& other) {
    if (Ticket ticket = other.last(); !ticket.done()) tickets.push_back(std::move(ticket));
  };
  if (kind_ == Kind::legacy) {
    for (const auto& other : device_.streams())
      if (other.get() != this && !other->non_blocking_) add(*other);
  } else if (!non_blocking_) {
    add(*device_.legacy());
  }
  return tickets;
}

Ticket Stream::submit(Task task, std::vector<Ticket> after, WhenFull when_full) {
  for (Ticket& ticket : implied()) after.push_back(std::move(ticket));
  Ticket ticket{queue_->count, 0};
  {
    std::unique_lock lock(queue_->mutex);
    ++queue_->waiting_for_room;
    // A stream's thread cannot wait for room that it must make itself.
    const bool grows = worker_thread || when_full == WhenFull::grow;
    queue_->room.wait(lock, [&] { return grows || queue_->items.size() < most_pending; });
    --queue_->waiting_for_room;
    if (!queue_->started) std::thread(work, queue_).detach();
    queue_->started = true;
    queue_->items.push_back({std::move(task), std::move(after), shared_from_this()});
    ticket.number = ++queue_->submitted;
  }
  queue_->changed.notify_all();
  return ticket;
}

bool Stream::try_claim() {
  std::lock_guard lock(queue_->mutex);
  if (!queue_->count->reached(queue_->submitted)) return false;
  ++queue_->submitted;
  queue_->busy = true;
  return true;
}

void Stream::run(Task task) {
  std::vector<Ticket> after = implied();
  if (!after.empty() || !try_claim()) return submit(std::move(task), std::move(after)).wait();
  perform(task);
  {
    std::lock_guard lock(queue_->mutex);
    queue_->busy = false;
    queue_->count->finish_one();
  }
  queue_->changed.notify_all();
}

// Worth it because waking another thread can take longer than a short kernel.
bool Stream::help() const {
  const std::shared_ptr<Queue> queue = queue_;
  std::unique_lock lock(queue->mutex);
  if (worker_thread || queue->busy || queue->items.empty()) return false;
  if (!queue->count->reached(queue->submitted - queue->items.size())) return false;
  for (const Ticket& ticket : queue->items.front().after)
    if (!ticket.done()) return false;
  Item item = queue->take();
  queue->busy = true;
  lock.unlock();
  worker_thread = true;
  perform(item.task);
  worker_thread = false;
  item = {};
  lock.lock();
  queue->busy = false;
  queue->count->finish_one();
  const bool wake = !queue->items.empty() || queue->closed;
  lock.unlock();
  if (wake) queue->changed.notify_all();
  return true;
}

void Stream::synchronize() const {
  if (kind_ == Kind::legacy)
    for (const Ticket& ticket : implied()) ticket.wait();
  while (help()) {
  }
  last().wait();
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

}  // namespace inflight::cuda
