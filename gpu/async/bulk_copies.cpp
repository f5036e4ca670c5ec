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

template <BulkCopies::Neighbours BulkCopies::Record::*links>
void BulkCopies::List<links>::append(Record& record) {
  record.*links = {newest, nullptr};
  (newest ? (newest->*links).newer : oldest) = &record;
  newest = &record;
}

template <BulkCopies::Neighbours BulkCopies::Record::*links>
void BulkCopies::List<links>::remove(Record& record) {
  const auto [older, newer] = record.*links;
  (older ? (older->*links).newer : oldest) = newer;
  (newer ? (newer->*links).older : newest) = older;
}

BulkCopies::BulkCopies(const Order& order, Observer& observer)
    : order_(order), observer_(observer) {}

void BulkCopies::reset(const Order& order) {
  order_ = order;
  for (Record* each = in_flight_.oldest; each; each = each->of_all.newer) records_.give_back(each);
  in_flight_ = {};
  count_ = 0;
  threads_.clear();
  mbarriers_.clear();
  issued_ = 0;
}

void BulkCopies::issue(const BulkCopy& issued) {
  if (count_ == most_in_flight) complete_oldest();
  Record& record = *records_.take();
  BulkCopy& copy = record.copy;
  copy = issued;
  copy.id = ++issued_;
  if (order_.early()) copy.watch = false;
  record.source = copy.watch ? source_fingerprint(copy) : 0;
  if (copy.mbarrier != nullptr) {
    record.completer = &mbarriers_[copy.mbarrier];
  } else {
    Thread& thread = threads_[copy.thread];
    record.completer = &thread.copies;
    record.group = thread.committed;
  }
  in_flight_.append(record);
  record.completer->append(record);
  ++count_;
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
  ++threads_[thread].committed;
  if (observer_.wants_every_event) observer_.committed(issuer(thread), Completion::bulk_group, tag);
}

void BulkCopies::wait_group(std::uint32_t thread, std::uint32_t newest_allowed, bool read_only,
                            std::uint64_t tag) {
  const Thread& waiting = threads_[thread];
  complete_while(waiting.copies, [&](const Record& r) {
    return r.group < waiting.committed && waiting.committed - r.group > newest_allowed;
  });
  if (observer_.wants_every_event)
    observer_.waited(issuer(thread), {Completion::bulk_group, newest_allowed, read_only}, tag);
}

std::uint32_t BulkCopies::groups_in_flight(std::uint32_t thread) const {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return 0;
  const auto& [committed, copies] = found->second;
  return copies.oldest ? committed - copies.oldest->group : 0;
}

void BulkCopies::flush_for(const mbarrier::Word* word) {
  const auto found = mbarriers_.find(word);
  if (found == mbarriers_.end()) return;
  const auto phase = mbarrier::decode(*word).parity;
  complete_while(found->second,
                 [&](const Record&) { return mbarrier::decode(*word).parity == phase; });
}

bool BulkCopies::flush_block(std::uint32_t rank) {
  const std::size_t before = count_;
  for (Record *each = in_flight_.oldest, *next; each && !observer_.stopped(); each = next) {
    next = each->of_all.newer;
    if (each->copy.thread >> 10 == rank) complete(*each);
  }
  return count_ != before;
}

bool BulkCopies::flush_all() {
  return complete_while(in_flight_, [](const Record&) { return true; });
}

void BulkCopies::advance() {
  if (count_ == 0 || !order_.now()) return;
  Record* chosen = in_flight_.oldest;
  for (std::uint32_t i = order_.one_of(count_); i != 0; --i) chosen = chosen->of_all.newer;
  if (!observer_.stopped()) complete(*chosen);
}

// For a program that never waits: completes a quarter of the copies.
void BulkCopies::complete_oldest() {
  std::size_t rest = most_in_flight / 4;
  complete_while(in_flight_, [&](const Record&) { return rest != 0 && rest-- != 0; });
}

// Completes the oldest copies of the list, up to the first for which due(record) is false when it
// is reached.
template <BulkCopies::Neighbours BulkCopies::Record::*links, class Due>
bool BulkCopies::complete_while(const List<links>& list, Due due) {
  const std::size_t before = count_;
  while (list.oldest && due(*list.oldest) && !observer_.stopped()) complete(*list.oldest);
  return count_ != before;
}

void BulkCopies::watch(std::uint64_t low, std::uint64_t high) {
  for (Record* each = in_flight_.oldest; each; each = each->of_all.newer) {
    if (each->copy.watch || !reads(each->copy, low, high)) continue;
    each->copy.watch = true;
    each->source = source_fingerprint(each->copy);
  }
}

void BulkCopies::complete(Record& record) {
  const BulkCopy& copy = record.copy;
  if (copy.watch && source_fingerprint(copy) != record.source)
    observer_.broken(Violation::source_modified, issuer(copy.thread), copy.tag);
  move(copy);
  mbarrier::Step step;
  if (copy.mbarrier != nullptr) step = mbarrier::complete_tx(*copy.mbarrier, copy.tx_bytes);
  if (observer_.wants_every_event) observer_.completed(copy, step);
  if (step.completed) observer_.phase_completed(copy.rank, copy.mbarrier_offset);
  if (step.violation != Violation::none)
    observer_.broken(step.violation, issuer(copy.thread), copy.tag);
  in_flight_.remove(record);
  record.completer->remove(record);
  --count_;
  records_.give_back(&record);
}

}  // namespace inflight::async
