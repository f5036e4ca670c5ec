// Turns stream edges into order, and records the launches.
#include "gpu/check/detect/races/host_order.hpp"

#include <algorithm>
#include <iterator>

namespace inflight::check::races {

void HostOrder::edge(const StreamEdge& e) {
  using Kind = StreamEdge::Kind;
  const std::lock_guard lock(mutex_);
  touching_.reset();
  news_.fetch_add(1, std::memory_order_relaxed);
  switch (e.kind) {
    case Kind::submitted:
      return streams_.submit(e.stream, e.work);
    case Kind::after:
      return streams_.after(e.stream, e.other, e.other_work);
    case Kind::begun:
      return streams_.begin(e.stream, e.work);
    case Kind::ended:
      children_.ended(e.stream);
      return streams_.end(e.stream, e.work);
    case Kind::launch:
      coming_[e.other] = streams_.launch(e.stream, e.dependent, e.programmatic);
      return;
    case Kind::step:
      return streams_.step(e.stream, e.other);
    case Kind::step_after:
      return streams_.step_after(e.stream, e.other, e.dependent);
    case Kind::host_function:  // it may notify other host threads, which is not observed
      return streams_.host_learns(streams_.known(e.stream));
    case Kind::value_write:
      return values_[e.other].join(streams_.known(e.stream));
    case Kind::value_wait:
      // If no stream wrote the value, a kernel or the host did: all that has begun comes before.
      if (const auto value = values_.find(e.other); value != values_.end())
        return streams_.learn(e.stream, value->second);
      return streams_.learn_all(e.stream);
    case Kind::stream_sync:
    case Kind::event_sync:
      return e.staged ? streams_.synchronise_staged(e.stream, e.work)
                      : streams_.synchronise(e.stream, e.work);
    case Kind::device_sync:
      return streams_.synchronise_all();
    case Kind::destroyed:
      return streams_.destroyed(e.stream);
    case Kind::created:
    case Kind::event_record:  // work that waits for the event gets an `after` edge
    case Kind::event_wait:
      return;
  }
}

order::Streams::Launch HostOrder::begin(const Kernel& kernel) {
  if (kernel.origin.parent)
    return children_.begin(kernel.launch, kernel.origin, kernel.stream, streams_);
  const auto reported = coming_.extract(kernel.launch);
  const order::Streams::Launch launch = reported.empty() ? streams_.on_host() : reported.mapped();
  children_.root(kernel.launch, launch, kernel.stream);
  return launch;
}

void HostOrder::launch_dependents(std::uint64_t stream, std::uint32_t number, bool has_waited) {
  const std::lock_guard lock(mutex_);
  streams_.launch_dependents(stream, number, has_waited);
}

void HostOrder::learnt(const Launch& launch, std::uint32_t number, const order::Knowledge& more) {
  const std::lock_guard lock(mutex_);
  children_.learnt(launch.launch, more);
  streams_.learnt(launch.stream, number, more);
}

order::Knowledge HostOrder::waited(std::uint32_t number) const {
  const std::lock_guard lock(mutex_);
  return streams_.waited(number);
}

void HostOrder::has_waited(std::uint64_t stream, std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  streams_.has_waited(stream, number);
}

void HostOrder::ended(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  streams_.ended(number);
}

void HostOrder::child_launched(std::uint64_t child, const order::Knowledge& by) {
  const std::lock_guard lock(mutex_);
  children_.launched(child, by);
}

order::Streams::Launch HostOrder::launch(const Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  const order::Streams::Launch launch = begin(kernel);
  Launch facts = facts_of(kernel);
  facts.dependent = launch.dependent;
  launches_.set(launch.number, facts);
  return launch;
}

order::Streams::Launch HostOrder::copy(const HostAccess& access) {
  const std::lock_guard lock(mutex_);
  const bool staged = access.staged && access.work && !access.launch;
  const order::Streams::Launch launch =
      access.launch ? children_.begin(access.launch, access.origin, access.stream, streams_)
      : staged      ? streams_.staged_copy(access.stream)
      : access.work ? streams_.launch(access.stream)
                    : streams_.on_host();
  Launch facts;
  facts.stream = access.work || access.launch ? access.stream : Launch::no_stream;
  facts.host = true;
  facts.nested = access.launch != 0;
  // At the limit of launches, the two share a number.
  if (staged && launch.number + 1 < order::launch_limit) launches_.set(launch.number - 1, facts);
  launches_.set(launch.number, facts);
  if (staged && (staged_.empty() || staged_.back() != launch.number))
    staged_.push_back(launch.number);
  return launch;
}

bool HostOrder::knows_staged(const order::Clock& knows, order::Row row) const {
  const auto number = static_cast<std::uint32_t>(order::launch_of(row));
  const std::lock_guard lock(mutex_);
  return std::ranges::binary_search(staged_, number) &&
         knows.floor(order::block_row(number - 1, 0), order::launch_shift) == order::always;
}

order::Streams::Launch HostOrder::touch() {
  const std::lock_guard lock(mutex_);
  if (touching_) return *touching_;
  news_.fetch_add(1, std::memory_order_relaxed);
  touching_ = streams_.on_host();
  Launch facts;
  facts.stream = Launch::no_stream;
  facts.host = facts.program = true;
  launches_.set(touching_->number, facts);
  return *touching_;
}

void HostOrder::host_learns(const order::Knowledge& more) {
  const std::lock_guard lock(mutex_);
  touching_.reset();
  streams_.host_learns(more);
}
order::Knowledge HostOrder::host_knows() const {
  const std::lock_guard lock(mutex_);
  return streams_.host_knows();
}

void HostOrder::made(const Allocation& allocation) {
  const bool shared =
      allocation.kind == Allocation::Kind::managed || allocation.kind == Allocation::Kind::host;
  const std::lock_guard lock(mutex_);
  allocations_[allocation.address] = {allocation.bytes, shared,
                                      allocation.kind == Allocation::Kind::constant};
  if (!shared) return;
  low_ = std::min(low_.load(), allocation.address);
  high_ = std::max(high_.load(), allocation.address + allocation.bytes);
}
void HostOrder::released(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  allocations_.erase(address);
}
const HostOrder::Range* HostOrder::range_of(std::uint64_t address) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  const auto& [base, range] = *std::prev(after);
  return address - base < range.bytes ? &range : nullptr;
}
bool HostOrder::is_allocated(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return range_of(address);
}
bool HostOrder::is_constant(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const Range* const range = range_of(address);
  return range && range->constant;
}
bool HostOrder::is_shared(std::uint64_t address) const {
  if (address < low_.load(std::memory_order_relaxed) ||
      address >= high_.load(std::memory_order_relaxed))
    return false;
  const std::lock_guard lock(mutex_);
  const Range* const range = range_of(address);
  return range && range->shared;
}

}  // namespace inflight::check::races
