// Streams and events of a grid, and what each of its launches waits for.
#include "gpu/machine/children/children.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>

namespace inflight::machine {
namespace {

std::atomic<std::int64_t> held_by_all{0};

// An entry of a map, and an argument buffer's allocation, besides what they point to.
constexpr std::int64_t entry_bytes = 96, buffer_bytes = 160;

std::int64_t bytes_of(const Child& child) {
  return static_cast<std::int64_t>(sizeof child + child.launch.parameters.capacity());
}
std::int64_t bytes_of(const std::optional<Launch>&) {
  return entry_bytes + buffer_bytes + static_cast<std::int64_t>(sizeof(std::optional<Launch>));
}

}  // namespace

void Children::Share::take(std::int64_t bytes) {
  held_ += bytes;
  held_by_all.fetch_add(bytes, std::memory_order_relaxed);
}

bool Children::has_room() {
  return held_by_all.load(std::memory_order_relaxed) < std::int64_t{most_bytes};
}

void Children::prepare(std::uint64_t buffer, std::optional<Launch> launch) {
  const std::lock_guard lock(mutex_);
  if (const auto before = prepared_.extract(buffer)) share_.give(bytes_of(before.mapped()));
  share_.take(bytes_of(launch));
  prepared_.emplace(buffer, std::move(launch));
}

bool Children::take_prepared(std::uint64_t buffer, std::optional<Launch>& launch) {
  const std::lock_guard lock(mutex_);
  auto found = prepared_.extract(buffer);
  if (found.empty()) return false;
  launch = std::move(found.mapped());
  share_.give(bytes_of(launch));
  return true;
}

std::vector<std::uint64_t> Children::prepared() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> buffers;
  for (const auto& [buffer, launch] : prepared_) buffers.push_back(buffer);
  return buffers;
}

std::uint64_t Children::create_stream() {
  const std::lock_guard lock(mutex_);
  share_.take(entry_bytes);
  streams_[++next_handle_];
  return next_handle_;
}

std::uint64_t Children::create_event() {
  const std::lock_guard lock(mutex_);
  share_.take(entry_bytes);
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
Children::Front* Children::find(std::uint64_t stream, const ThreadOfGrid& by, bool own) {
  constexpr std::uint32_t all = ~0u;
  own |= stream == thread_stream;
  if (stream <= thread_stream) return &null_streams_[own ? by : ThreadOfGrid{by.block, all}];
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : &found->second;
}

void Children::assign(Front& front, Front to) {
  const auto bytes = [](const Front& of) {
    return static_cast<std::int64_t>(of.capacity() * sizeof(Before));
  };
  const std::int64_t before = bytes(front);
  front = std::move(to);
  share_.take(bytes(front) - before);
}

bool Children::record(std::uint64_t event, std::uint64_t stream, const ThreadOfGrid& by, bool own) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  const Front* const in = find(stream, by, own);
  if (found == events_.end() || !in) return false;
  assign(found->second, *in);
  return true;
}

bool Children::wait(std::uint64_t stream, std::uint64_t event, const ThreadOfGrid& by, bool own) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  Front* const in = find(stream, by, own);
  if (found == events_.end() || !in) return false;
  Front both;
  std::set_union(in->begin(), in->end(), found->second.begin(), found->second.end(),
                 std::back_inserter(both));
  if (both.size() != in->size()) assign(*in, std::move(both));
  return true;
}

bool Children::takes(std::uint64_t stream) const {
  return stream <= detached_stream || has_stream(stream);
}

void Children::launch(Child child, std::uint64_t stream, bool own) {
  const std::lock_guard lock(mutex_);
  child.launch.origin.tail = stream == tail_stream;
  if (stream == tail_stream) {
    share_.take(bytes_of(child));
    tails_.push_back(std::move(child));
    return;
  }
  Queued queued{std::move(child), {}};
  if (stream != detached_stream) {
    Front& in = *find(stream, queued.child.by, own);
    queued.after = in;
    assign(in, {{forgotten_ + queue_.size(), queued.child.number()}});
  }
  for (const Before& each : queued.after) queued.child.launch.origin.after.push_back(each.number);
  queued.bytes = static_cast<std::uint64_t>(bytes_of(queued.child)) +
                 queued.after.size() * (sizeof(Before) + sizeof(std::uint64_t));
  share_.take(static_cast<std::int64_t>(queued.bytes));
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

void Children::block_ended(std::uint64_t block) {
  const std::lock_guard lock(mutex_);
  const ThreadOfGrid first{block, 0}, beyond{block + 1, 0};
  errors_.erase(errors_.lower_bound(first), errors_.lower_bound(beyond));
  const auto end = null_streams_.lower_bound(beyond);
  for (auto each = null_streams_.lower_bound(first); each != end;) {
    assign(each->second, {});
    each = null_streams_.erase(each);
  }
}

bool Children::has_ended(std::uint64_t place) const {
  return place < forgotten_ || queue_[place - forgotten_].ended;
}

bool Children::ready(const Queued& each) const {
  return !each.begun && std::all_of(each.after.begin(), each.after.end(),
                                    [this](const Before& front) { return has_ended(front.place); });
}

void Children::forget_ended() {
  while (!queue_.empty() && queue_.front().ended) {
    share_.give(static_cast<std::int64_t>(queue_.front().bytes));
    queue_.pop_front();
    ++forgotten_;
    if (first_ != 0) --first_;
  }
}

std::optional<Child> Children::next() {
  constexpr std::size_t choice = 64;   // picks at random among this many ready launches
  constexpr std::size_t reach = 4096;  // that are not further behind the first one
  const std::lock_guard lock(mutex_);
  while (first_ < queue_.size() && queue_[first_].begun) ++first_;
  const std::size_t wanted = timing_.policy == async::Timing::Policy::shuffled ? choice : 1;
  std::vector<std::size_t> may;
  for (std::size_t i = first_; i < queue_.size() && may.size() < wanted; ++i) {
    if (i - first_ >= reach && !may.empty()) break;
    if (ready(queue_[i])) may.push_back(i);
  }
  if (may.empty()) return std::nullopt;
  const std::size_t chosen = may[random_.below(static_cast<std::uint32_t>(may.size()))];
  Queued& queued = queue_[chosen];
  queued.begun = true;
  --pending_;
  Child child = std::move(queued.child);
  running_[child.number()] = forgotten_ + chosen;
  return child;
}

void Children::ended(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = running_.extract(number);
  if (found.empty() || found.mapped() < forgotten_) return;
  queue_[found.mapped() - forgotten_].ended = true;
  forget_ended();
}

void Children::drop() {
  const std::lock_guard lock(mutex_);
  for (Queued& each : queue_) each.begun = each.ended = true;
  forget_ended();
  pending_ = 0;
  for (const Child& each : tails_) share_.give(bytes_of(each));
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
  for (const Child& each : tails_) share_.give(bytes_of(each));
  return std::exchange(tails_, {});
}

}  // namespace inflight::machine
