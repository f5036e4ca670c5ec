// Streams and events of a grid, and what each of its launches waits for.
#include "gpu/machine/children/children.hpp"

#include <algorithm>

namespace inflight::machine {

void Children::prepare(std::uint64_t buffer, Launch launch) {
  const std::lock_guard lock(mutex_);
  prepared_.insert_or_assign(buffer, std::move(launch));
}

std::optional<Launch> Children::take_prepared(std::uint64_t buffer) {
  const std::lock_guard lock(mutex_);
  auto found = prepared_.extract(buffer);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

std::vector<std::uint64_t> Children::prepared() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> buffers;
  for (const auto& [buffer, launch] : prepared_) buffers.push_back(buffer);
  return buffers;
}

std::uint64_t Children::create_stream() {
  const std::lock_guard lock(mutex_);
  streams_[++next_handle_];
  return next_handle_;
}

std::uint64_t Children::create_event() {
  const std::lock_guard lock(mutex_);
  events_[++next_handle_];
  return next_handle_;
}

bool Children::has_stream(std::uint64_t stream) const {
  const std::lock_guard lock(mutex_);
  return streams_.contains(stream);
}

bool Children::has_event(std::uint64_t event) const {
  const std::lock_guard lock(mutex_);
  return events_.contains(event);
}

// A block's threads share a null stream.
Children::Stream* Children::find(std::uint64_t stream, const ThreadOfGrid& by, bool own) {
  constexpr std::uint32_t all = ~0u;
  own |= stream == thread_stream;
  if (stream <= thread_stream) return &null_streams_[own ? by : ThreadOfGrid{by.block, all}];
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : &found->second;
}

bool Children::record(std::uint64_t event, std::uint64_t stream, const ThreadOfGrid& by, bool own) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  const Stream* const in = find(stream, by, own);
  if (found == events_.end() || !in) return false;
  found->second = in->in_front;
  return true;
}

bool Children::wait(std::uint64_t stream, std::uint64_t event, const ThreadOfGrid& by, bool own) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  Stream* const in = find(stream, by, own);
  if (found == events_.end() || !in) return false;
  in->in_front.insert(in->in_front.end(), found->second.begin(), found->second.end());
  return true;
}

bool Children::takes(std::uint64_t stream) const {
  return stream <= detached_stream || has_stream(stream);
}

void Children::launch(Child child, std::uint64_t stream, bool own) {
  const std::lock_guard lock(mutex_);
  child.launch.origin.tail = stream == tail_stream;
  if (stream == tail_stream) {
    tails_.push_back(std::move(child));
    return;
  }
  Queued queued{std::move(child), {}};
  if (stream != detached_stream) {
    Stream* const in = find(stream, queued.child.by, own);
    queued.after = std::exchange(in->in_front, {queue_.size()});
  }
  for (const std::size_t each : queued.after)
    queued.child.launch.origin.after.push_back(queue_[each].child.number());
  queue_.push_back(std::move(queued));
  ++pending_;
  changed_.notify_one();
}

std::uint64_t Children::pending() const {
  const std::lock_guard lock(mutex_);
  return pending_;
}

bool Children::busy() const {
  const std::lock_guard lock(mutex_);
  return pending_ != 0 || !running_.empty();
}

std::uint64_t Children::tail_count() const {
  const std::lock_guard lock(mutex_);
  return tails_.size();
}

int Children::error(const ThreadOfGrid& thread, bool clear) {
  const std::lock_guard lock(mutex_);
  const auto found = errors_.find(thread);
  if (found == errors_.end()) return 0;
  const int code = found->second;
  if (clear) errors_.erase(found);
  return code;
}

void Children::set_error(const ThreadOfGrid& thread, int code) {
  const std::lock_guard lock(mutex_);
  errors_[thread] = code;
}

bool Children::ready(const Queued& each) const {
  return !each.begun && std::all_of(each.after.begin(), each.after.end(),
                                    [this](std::size_t front) { return queue_[front].ended; });
}

std::optional<Child> Children::next() {
  constexpr std::size_t choice = 64;  // picks at random among this many ready launches
  const std::lock_guard lock(mutex_);
  while (first_ < queue_.size() && queue_[first_].begun) ++first_;
  const std::size_t wanted = timing_.policy == async::Timing::Policy::shuffled ? choice : 1;
  std::vector<std::size_t> may;
  for (std::size_t i = first_; i < queue_.size() && may.size() < wanted; ++i)
    if (ready(queue_[i])) may.push_back(i);
  if (may.empty()) return std::nullopt;
  const std::size_t chosen = may[random_.below(static_cast<std::uint32_t>(may.size()))];
  Queued& queued = queue_[chosen];
  queued.begun = true;
  --pending_;
  Child child = std::move(queued.child);
  running_[child.number()] = chosen;
  return child;
}

void Children::ended(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = running_.extract(number);
  if (!found.empty()) queue_[found.mapped()].ended = true;
}

void Children::drop() {
  const std::lock_guard lock(mutex_);
  for (Queued& each : queue_) each.begun = each.ended = true;
  first_ = queue_.size();
  pending_ = 0;
  tails_.clear();
}

bool Children::await() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || pending_ != 0; });
  return !closed_ || pending_ != 0;
}

void Children::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

std::vector<Child> Children::tails() {
  const std::lock_guard lock(mutex_);
  return std::exchange(tails_, {});
}

}  // namespace inflight::machine
