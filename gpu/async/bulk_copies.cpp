// Moves the bytes of bulk copies and completes their mbarriers and groups.
#include "gpu/async/bulk_copies.hpp"

#include <cstring>

#include "gpu/async/fingerprint.hpp"

namespace inflight::async {
namespace {

void write_masked(std::byte* to, const std::byte* from, std::uint32_t bytes, std::uint16_t mask) {
  for (std::uint32_t i = 0; i < bytes; ++i)
    if (mask >> (i & 15) & 1) to[i] = from[i];
}

void move_bytes(const BulkCopy& c, const std::byte* from) {
  if (c.reduce != nullptr)
    c.reduce(c.to, from, c.bytes);
  else if (c.byte_mask != 0xffff)
    write_masked(c.to, from, c.bytes, c.byte_mask);
  else
    std::memmove(c.to, from, c.bytes);
}

void move(const BulkCopy& c) {
  const TensorMemory memory{c.shared, nullptr};
  switch (c.kind) {
    case BulkCopy::Kind::bytes:
      return move_bytes(c, c.from);
    case BulkCopy::Kind::value:
      return move_bytes(c, c.value.data());
    case BulkCopy::Kind::tensor_load:
      return tensor_load(c.map, c.place, memory);
    case BulkCopy::Kind::tensor_store:
      return c.reduce ? tensor_reduce(c.map, c.place, memory, c.reduce)
                      : tensor_store(c.map, c.place, memory);
  }
}

std::uint64_t source_fingerprint(const BulkCopy& c) {
  if (c.kind == BulkCopy::Kind::value) return 0;
  if (c.kind == BulkCopy::Kind::bytes) return fingerprint(c.from, c.bytes);
  std::uint64_t chain = 0;
  for_each_run(c, [&](const BulkRun& run) {
    if (run.from) chain = fingerprint(run.from, run.bytes, chain);
  });
  return chain;
}

bool reads(const BulkCopy& c, std::uint64_t low, std::uint64_t high) {
  bool some = false;
  for_each_run(c, [&](const BulkRun& run) {
    const auto at = reinterpret_cast<std::uint64_t>(run.from);
    some |= run.from && at < high && at + run.bytes > low;
  });
  return some;
}

}  // namespace

BulkCopies::BulkCopies(const Order& order, Observer& observer)
    : order_(order), observer_(observer) {}

void BulkCopies::reset(const Order& order) {
  order_ = order;
  for (const Record& r : in_flight_) copies_.give_back(r.copy);
  in_flight_.clear();
  groups_.clear();
  issued_ = 0;
}

void BulkCopies::issue(const BulkCopy& issued) {
  if (in_flight_.size() == most_in_flight) complete_oldest();
  BulkCopy& copy = *copies_.take();
  copy = issued;
  copy.id = ++issued_;
  if (order_.early()) copy.watch = false;
  in_flight_.push_back({.mbarrier = copy.mbarrier,
                        .thread = copy.thread,
                        .group = copy.mbarrier == nullptr ? groups_[copy.thread] : 0,
                        .copy = &copy,
                        .source = copy.watch ? source_fingerprint(copy) : 0});
  if (observer_.wants_every_event) observer_.issued(copy);
  if (order_.early()) flush_all();
}

void BulkCopies::issue_empty(const BulkCopy& issued) {
  BulkCopy copy = issued;
  copy.id = ++issued_;
  if (!observer_.wants_every_event) return;
  observer_.issued(copy);
  observer_.completed(copy, {});
}

void BulkCopies::commit(std::uint32_t thread, std::uint64_t tag) {
  ++groups_[thread];
  if (observer_.wants_every_event) observer_.committed(issuer(thread), Completion::bulk_group, tag);
}

void BulkCopies::wait_group(std::uint32_t thread, std::uint32_t newest_allowed, bool read_only,
                            std::uint64_t tag) {
  const std::uint32_t committed = groups_[thread];
  complete_if([&](const Record& r) {
    return r.waits_for_group(thread) && r.group < committed && committed - r.group > newest_allowed;
  });
  if (observer_.wants_every_event)
    observer_.waited(issuer(thread), {Completion::bulk_group, newest_allowed, read_only}, tag);
}

std::uint32_t BulkCopies::groups_in_flight(std::uint32_t thread) const {
  const auto found = groups_.find(thread);
  const std::uint32_t committed = found == groups_.end() ? 0 : found->second;
  for (const Record& r : in_flight_)
    if (r.waits_for_group(thread) && r.group < committed) return committed - r.group;
  return 0;
}

void BulkCopies::flush_for(const mbarrier::Word* word) {
  const auto phase = mbarrier::decode(*word).parity;
  complete_if([&](const Record& r) {
    return r.mbarrier == word && mbarrier::decode(*word).parity == phase;
  });
}

bool BulkCopies::flush_block(std::uint32_t rank) {
  return complete_if([&](const Record& r) { return r.thread >> 10 == rank; });
}

bool BulkCopies::flush_all() {
  return complete_if([](const Record&) { return true; });
}

void BulkCopies::advance() {
  if (in_flight_.empty() || !order_.now()) return;
  const BulkCopy* const chosen = in_flight_[order_.one_of(in_flight_.size())].copy;
  complete_if([&](const Record& r) { return r.copy == chosen; });
}

// For a program that never waits: completes a quarter of the copies.
void BulkCopies::complete_oldest() {
  std::size_t rest = most_in_flight / 4;
  complete_if([&](const Record&) { return rest != 0 && rest-- != 0; });
}

// Completes, oldest first, each record for which due(record) is true when it is reached.
template <class Due>
bool BulkCopies::complete_if(Due due) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < in_flight_.size(); ++i) {
    const Record r = in_flight_[i];
    if (!due(r) || observer_.stopped()) {
      in_flight_[kept++] = r;
      continue;
    }
    complete(r);
    copies_.give_back(r.copy);
  }
  const bool some = kept != in_flight_.size();
  in_flight_.resize(kept);
  return some;
}

void BulkCopies::watch(std::uint64_t low, std::uint64_t high) {
  for (Record& r : in_flight_) {
    if (r.copy->watch || !reads(*r.copy, low, high)) continue;
    r.copy->watch = true;
    r.source = source_fingerprint(*r.copy);
  }
}

void BulkCopies::complete(const Record& record) {
  const BulkCopy& copy = *record.copy;
  if (copy.watch && source_fingerprint(copy) != record.source)
    observer_.broken(Violation::source_modified, issuer(copy.thread), copy.tag);
  move(copy);
  mbarrier::Step step;
  if (copy.mbarrier != nullptr) step = mbarrier::complete_tx(*copy.mbarrier, copy.tx_bytes);
  if (observer_.wants_every_event) observer_.completed(copy, step);
  if (step.completed) observer_.phase_completed(copy.rank, copy.mbarrier_offset);
  if (step.violation != Violation::none)
    observer_.broken(step.violation, issuer(copy.thread), copy.tag);
}

}  // namespace inflight::async
