// When bulk copies move, and what that completes.
#include "gpu/async/bulk_copies.hpp"

#include <cstring>
#include <utility>

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

bool in_group(const BulkCopy& c) { return c.mbarrier == nullptr; }

}  // namespace

BulkCopies::BulkCopies(Timing timing, std::uint64_t number, BulkObserver& observer)
    : timing_(timing), random_(timing.seed ^ number), observer_(observer) {}
BulkCopies::~BulkCopies() = default;

void BulkCopies::reset(std::uint64_t number) {
  random_ = Random(timing_.seed ^ number);
  while (!in_flight_.empty()) {
    spare_.push_back(std::move(in_flight_.back()));
    in_flight_.pop_back();
  }
  groups_.clear();
  issued_ = 0;
}

void BulkCopies::issue(const BulkCopy& copy) {
  std::unique_ptr<Record> record;
  if (spare_.empty()) {
    record = std::make_unique<Record>();
  } else {
    record = std::move(spare_.back());
    spare_.pop_back();
  }
  record->copy = copy;
  record->copy.id = ++issued_;
  if (in_group(copy)) record->group = groups_[copy.thread];
  if (timing_.policy == Timing::Policy::early) record->copy.watch = false;
  if (record->copy.watch) record->source = source_fingerprint(copy);
  observer_.issued(record->copy);
  in_flight_.push_back(std::move(record));
  if (timing_.policy == Timing::Policy::early) flush_all();
}

void BulkCopies::commit(std::uint32_t thread, std::uint64_t tag) {
  ++groups_[thread];
  observer_.committed(thread, tag);
}

void BulkCopies::wait_group(std::uint32_t thread, std::uint32_t newest_allowed, bool read_only,
                            std::uint64_t tag) {
  const std::uint32_t committed = groups_[thread];
  complete_if([&](const Record& r) {
    return in_group(r.copy) && r.copy.thread == thread && r.group < committed &&
           committed - r.group > newest_allowed;
  });
  observer_.waited(thread, newest_allowed, read_only, tag);
}

std::uint32_t BulkCopies::groups_in_flight(std::uint32_t thread) const {
  const auto found = groups_.find(thread);
  const std::uint32_t committed = found == groups_.end() ? 0 : found->second;
  for (const auto& r : in_flight_)
    if (in_group(r->copy) && r->copy.thread == thread && r->group < committed)
      return committed - r->group;
  return 0;
}

void BulkCopies::flush_for(const mbarrier::Word* word) {
  const auto phase = mbarrier::decode(*word).parity;
  complete_if([&](const Record& r) {
    return r.copy.mbarrier == word && mbarrier::decode(*word).parity == phase;
  });
}

bool BulkCopies::flush_block(std::uint32_t rank) {
  return complete_if([&](const Record& r) { return r.copy.thread >> 10 == rank; });
}

bool BulkCopies::flush_all() {
  return complete_if([](const Record&) { return true; });
}

void BulkCopies::advance() {
  if (timing_.policy != Timing::Policy::shuffled || in_flight_.empty()) return;
  if (random_.below(4) != 0) return;
  const BulkCopy* chosen = &in_flight_[random_.below(std::uint32_t(in_flight_.size()))]->copy;
  complete_if([&](const Record& r) { return &r.copy == chosen; });
}

// Completes, oldest first, the records for which due(record) holds when their turn comes.
template <class Due>
bool BulkCopies::complete_if(Due due) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < in_flight_.size(); ++i) {
    if (!due(*in_flight_[i]) || observer_.stopped()) {
      if (kept != i) std::swap(in_flight_[kept], in_flight_[i]);
      ++kept;
      continue;
    }
    complete(*in_flight_[i]);
    spare_.push_back(std::move(in_flight_[i]));
  }
  const bool some = kept != in_flight_.size();
  in_flight_.resize(kept);
  return some;
}

void BulkCopies::watch(std::uint64_t low, std::uint64_t high) {
  for (const auto& r : in_flight_) {
    if (r->copy.watch || !reads(r->copy, low, high)) continue;
    r->copy.watch = true;
    r->source = source_fingerprint(r->copy);
  }
}

void BulkCopies::complete(const Record& record) {
  const BulkCopy& copy = record.copy;
  if (copy.watch && source_fingerprint(copy) != record.source) observer_.source_modified(copy);
  move(copy);
  mbarrier::Step step;
  if (copy.mbarrier != nullptr) step = mbarrier::complete_tx(*copy.mbarrier, copy.tx_bytes);
  observer_.completed(copy, step);
}

}  // namespace inflight::async
