// Thread copies in flight: decides which bytes move at which call.
#include "gpu/async/thread_copies.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "gpu/async/thread_copy_bytes.hpp"
#include "gpu/async/thread_counters.hpp"
#include "gpu/async/thread_records.hpp"

namespace inflight::async {
namespace {

mbarrier::Word& word_at(std::byte* base, std::uint32_t address) {
  return *reinterpret_cast<mbarrier::Word*>(base + address);
}

// Of a mask that is not empty.
std::uint32_t first_of(std::uint32_t mask) {
  return static_cast<std::uint32_t>(std::countr_zero(mask));
}
std::uint32_t thread_count(std::uint32_t mask) {
  return static_cast<std::uint32_t>(std::popcount(mask));
}

void watch_sources(Record& record, std::uint32_t mask) {
  Copy& c = *record.carried;
  for_each_thread(mask & ~record.watched,
                  [&](std::uint32_t t) { c.src_fingerprint[t] = source_fingerprint(c, t); });
  record.watched |= mask;
}

// Returns the threads of `mask` whose sources are watched and have changed.
std::uint32_t changed_sources(const Record& record, std::uint32_t mask) {
  const Copy& c = *record.carried;
  std::uint32_t changed = 0;
  for_each_thread(record.watched & mask, [&](std::uint32_t t) {
    if (source_fingerprint(c, t) != c.src_fingerprint[t]) changed |= 1u << t;
  });
  return changed;
}

}  // namespace

struct ThreadCopies::State {
  State(const Order& o, Observer& to, std::uint16_t rank, std::uint16_t warp)
      : order(o), observer(to), by{rank, warp, 0} {}

  Order order;
  Observer& observer;
  const Threads by;
  ThreadRecords queue;
  std::uint64_t ids = 0;
  std::size_t copies = 0, arrivals = 0;                      // records that are still outstanding
  std::vector<std::pair<std::size_t, std::uint32_t>> ready;  // records and threads, to be shuffled

  bool observed() const { return observer.wants_every_event; }
  Threads threads(std::uint32_t mask) const { return {by.rank, by.warp, mask}; }
  void report(Violation violation, std::uint32_t mask, std::uint64_t tag) {
    observer.broken(violation, threads(mask), tag);
  }
  bool fill(Copy& copy, const Issue& issue);
  void perform(Record& record, std::uint32_t mask);
  void fire(Record& record, std::uint32_t mask);
  void expect_arrivals(Record& record);
  void expect_arrival(Record& record, std::uint32_t mask, std::uint32_t thread, Violation v);
  void make_room();
  void mark_all(std::uint32_t mask, std::size_t end);
  void mark_groups(std::uint32_t mask, std::uint32_t newest_allowed);
  void settle();
  void complete_in_order();
  void complete_shuffled();
  bool gather(bool only_due);
  void perform_ready(bool some);
  void close();
  void drop_finished();
  void pass_moment();
  std::size_t find_arrival(const mbarrier::Word* word, std::uint32_t& threads) const;
};

// Returns whether no thread zero-fills.
bool ThreadCopies::State::fill(Copy& copy, const Issue& issue) {
  copy.id = ++ids;
  copy.tag = issue.tag;
  copy.mask = issue.mask;
  copy.bytes = issue.bytes;
  copy.oversized = issue.oversized, copy.source_size = issue.source_size;
  copy.dst_base = issue.dst_base;
  copy.src_base = issue.src_base;
  std::memcpy(copy.dst.data(), issue.dst, sizeof copy.dst);
  std::memcpy(copy.src.data(), issue.src, sizeof copy.src);
  copy.src_bytes.fill(static_cast<std::uint8_t>(issue.bytes));
  if (issue.src_bytes == nullptr) return true;
  bool whole = true;
  for_each_thread(issue.mask, [&](std::uint32_t t) {
    copy.src_bytes[t] = static_cast<std::uint8_t>(issue.src_bytes[t]);
    whole &= issue.src_bytes[t] == issue.bytes;
  });
  return whole;
}

// Moves the bytes of these threads.
void ThreadCopies::State::perform(Record& record, std::uint32_t mask) {
  if (record.watched != 0) [[unlikely]]
    if (const std::uint32_t changed = changed_sources(record, mask))
      report(Violation::source_modified, changed, record.carried->tag);
  move_bytes(*record.carried, mask, record.whole);
  record.mask &= ~mask;
  record.due &= ~mask;
  if (record.mask == 0) --copies;
  if (observed()) [[unlikely]]
    observer.completed(threads(mask), *record.carried);
}

// Makes the arrivals of these threads, on one mbarrier together where possible.
void ThreadCopies::State::fire(Record& record, std::uint32_t mask) {
  const Copy& c = *record.carried;
  record.mask &= ~mask;
  if (record.mask == 0) --arrivals;
  const std::uint32_t first = first_of(mask);
  const std::uint32_t together =
      record.one ? mbarrier::arrive_alike(word_at(c.dst_base, c.dst[first]), 1, mask) : 0;
  if (together != 0 && observed()) [[unlikely]]
    observer.arrived(threads(together), {c.id, c.tag, c.dst[first], record.noinc}, {});
  mask &= ~together;
  for_each_thread(mask, [&](std::uint32_t t) {
    const mbarrier::Step step = mbarrier::arrive(word_at(c.dst_base, c.dst[t]));
    if (observed()) [[unlikely]]
      observer.arrived(threads(1u << t), {c.id, c.tag, c.dst[t], record.noinc}, step);
    if (step.completed) observer.phase_completed(by.rank, c.dst[t]);
    if (step.violation != Violation::none) report(step.violation, 1u << t, c.tag);
  });
}

// Begins the threads' arrivals. An arrival that breaks a rule is dropped.
void ThreadCopies::State::expect_arrivals(Record& record) {
  const std::uint32_t mask = record.mask, first = first_of(mask);
  const auto add_pending = [&](std::uint32_t t, std::uint32_t count) {
    mbarrier::Word& word = word_at(record.carried->dst_base, record.carried->dst[t]);
    return record.noinc ? Violation::none : mbarrier::add_pending(word, count);
  };
  if (record.one && add_pending(first, thread_count(mask)) == Violation::none)
    return expect_arrival(record, mask, first, Violation::none);
  for_each_thread(mask,
                  [&](std::uint32_t t) { expect_arrival(record, 1u << t, t, add_pending(t, 1)); });
}

void ThreadCopies::State::expect_arrival(Record& record, std::uint32_t mask, std::uint32_t t,
                                         Violation v) {
  const Copy& c = *record.carried;
  if (observed()) [[unlikely]]
    observer.arrival_issued(threads(mask), {c.id, c.tag, c.dst[t], record.noinc}, v);
  if (v == Violation::none) return;
  record.mask &= ~mask;
  report(v, mask, c.tag);
}

// Marks every copy of these threads among the first `end` records as due.
void ThreadCopies::State::mark_all(std::uint32_t mask, std::size_t end) {
  for (std::size_t i = 0; i < end; ++i)
    if (queue[i].kind != Record::Kind::arrival) queue[i].due = queue[i].mask & mask;
}

// Marks the copies of all but each thread's newest groups as due. It goes back from the newest
// record. A thread's copies are due from its commit number newest_allowed + 1 on.
void ThreadCopies::State::mark_groups(std::uint32_t mask, std::uint32_t newest_allowed) {
  if (newest_allowed >= queue.size()) return;
  ThreadCounters commits(newest_allowed + 1);
  std::uint32_t due = 0;
  for (std::size_t i = queue.size(); i-- > 0;) {
    Record& r = queue[i];
    if (r.kind == Record::Kind::commit) due |= commits.add(r.mask & mask & ~due);
    if (r.kind != Record::Kind::arrival) r.due = r.mask & due;
  }
}

// Completes what is due, makes the arrivals that then have nothing to wait for, and drops finished
// records.
void ThreadCopies::State::settle() {
  order.shuffled() ? complete_shuffled() : complete_in_order();
  close();
}

void ThreadCopies::State::complete_in_order() {
  for (std::size_t i = 0; i < queue.size(); ++i) {
    Record& r = queue[i];
    if (r.kind == Record::Kind::copy && r.due != 0) perform(r, r.due);
  }
}

void ThreadCopies::State::complete_shuffled() {
  while (gather(true)) perform_ready(false);
}

// Collects the copies that may complete next: those of each thread's oldest unfinished group.
bool ThreadCopies::State::gather(bool only_due) {
  std::uint32_t seen = 0, blocked = 0;
  ready.clear();
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Record& r = queue[i];
    if (r.kind == Record::Kind::commit) blocked |= r.mask & seen;
    if (r.kind != Record::Kind::copy) continue;
    const std::uint32_t threads = (only_due ? r.due : r.mask) & ~blocked;
    if (threads != 0) ready.emplace_back(i, threads);
    seen |= r.mask;
  }
  return !ready.empty();
}

void ThreadCopies::State::perform_ready(bool some) {
  order.shuffle(ready);
  for (auto [index, threads] : ready) {
    if (some) threads = order.some_of(threads);
    if (threads != 0) perform(queue[index], threads);
  }
}

void ThreadCopies::State::close() {
  std::uint32_t busy = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    Record& r = queue[i];
    if (r.kind == Record::Kind::copy) busy |= r.mask;
    if (r.kind == Record::Kind::commit) r.mask &= ~std::exchange(r.due, 0);
    if (r.kind != Record::Kind::arrival) continue;
    if (const std::uint32_t free = r.mask & ~busy) fire(r, free);
  }
  drop_finished();
}

// A commit at the front has no copies before it, so it is dropped too.
void ThreadCopies::State::drop_finished() {
  while (queue.size() > 0 && (queue[0].mask == 0 || queue[0].kind == Record::Kind::commit))
    queue.pop_front();
}

void ThreadCopies::State::make_room() {
  if (queue.size() < most_in_flight) return;
  mark_all(everyone, most_in_flight / 4);
  settle();
}

void ThreadCopies::State::pass_moment() {
  if (copies == 0 || !order.now()) return;
  if (gather(false)) perform_ready(true);
  close();
}

// Returns the first record with pending arrivals on this mbarrier, and sets `threads` to their
// threads. Returns size() if there is none.
std::size_t ThreadCopies::State::find_arrival(const mbarrier::Word* word,
                                              std::uint32_t& threads) const {
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Record& r = queue[i];
    if (r.kind != Record::Kind::arrival || r.mask == 0) continue;
    const Copy& c = *r.carried;
    const auto on = [&](std::uint32_t t) { return &word_at(c.dst_base, c.dst[t]) == word; };
    threads = 0;
    if (r.one)
      threads = on(first_of(r.mask)) ? r.mask : 0;
    else
      for_each_thread(r.mask, [&](std::uint32_t t) { threads |= on(t) ? 1u << t : 0; });
    if (threads != 0) return i;
  }
  return queue.size();
}

ThreadCopies::ThreadCopies(const Order& order, Observer& observer, std::uint16_t rank,
                           std::uint16_t warp)
    : state_(std::make_unique<State>(order, observer, rank, warp)) {}
ThreadCopies::~ThreadCopies() = default;

void ThreadCopies::reset(const Order& order) {
  State& s = *state_;
  s.order = order;
  s.queue.clear();
  s.copies = s.arrivals = s.ids = 0;
}

void ThreadCopies::issue(const Issue& issue) {
  State& s = *state_;
  if (issue.mask == 0) return;
  if (issue.oversized != 0) [[unlikely]]
    s.report(Violation::source_size, issue.oversized, issue.tag);
  s.make_room();
  Record& r = s.queue.push(Record::Kind::copy, issue.mask, true);
  ++s.copies;
  r.whole = s.fill(*r.carried, issue);
  if (s.observed()) [[unlikely]]
    s.observer.issued(s.threads(issue.mask), *r.carried);
  if (s.order.early()) {
    s.perform(r, issue.mask);
    s.drop_finished();
  } else if (issue.watch) {
    watch_sources(r, issue.mask);
  }
  s.pass_moment();
}

void ThreadCopies::commit(std::uint32_t mask, std::uint64_t tag) {
  State& s = *state_;
  if (mask == 0) return;
  if (s.observed()) [[unlikely]]
    s.observer.committed(s.threads(mask), Completion::thread_group, tag);
  s.make_room();
  if (s.copies != 0) s.queue.push(Record::Kind::commit, mask, false);
  s.pass_moment();
}

void ThreadCopies::wait_group(std::uint32_t mask, std::uint32_t newest_allowed, std::uint64_t tag) {
  State& s = *state_;
  if (s.copies != 0) {
    s.mark_groups(mask, newest_allowed);
    s.settle();
    s.pass_moment();
  }
  if (s.observed()) [[unlikely]]
    s.observer.waited(s.threads(mask), {Completion::thread_group, newest_allowed}, tag);
}

void ThreadCopies::wait_all(std::uint32_t mask, std::uint64_t tag) {
  State& s = *state_;
  if (s.copies != 0) {
    s.mark_all(mask, s.queue.size());
    s.settle();
  }
  if (s.observed()) [[unlikely]]
    s.observer.waited(s.threads(mask), {Completion::thread_group, GroupWait::all_copies}, tag);
}

void ThreadCopies::arrive(const ArriveIssue& issue) {
  State& s = *state_;
  if (issue.mask == 0) return;
  s.make_room();
  Record& r = s.queue.push(Record::Kind::arrival, issue.mask, true);
  ++s.arrivals;
  r.noinc = issue.noinc;
  Copy& c = *r.carried;
  c.id = ++s.ids;
  c.tag = issue.tag;
  c.mask = issue.mask;
  c.dst_base = issue.base;
  std::memcpy(c.dst.data(), issue.mbarrier, sizeof c.dst);
  const std::uint32_t only = issue.mbarrier[first_of(issue.mask)];
  r.one = true;
  for_each_thread(issue.mask, [&](std::uint32_t t) { r.one &= issue.mbarrier[t] == only; });
  s.expect_arrivals(r);
  if (r.mask == 0) --s.arrivals;
  s.close();
}

void ThreadCopies::flush_for(const mbarrier::Word* word) {
  State& s = *state_;
  if (s.arrivals == 0) return;
  const std::uint32_t phase = mbarrier::decode(*word).parity;
  for (std::uint32_t threads = 0; mbarrier::decode(*word).parity == phase;) {
    const std::size_t i = s.find_arrival(word, threads);
    if (i == s.queue.size()) break;
    s.mark_all(threads, i);
    s.settle();
  }
}

void ThreadCopies::flush(std::uint32_t mask) {
  if (idle()) return;
  state_->mark_all(mask, state_->queue.size());
  state_->settle();
}

void ThreadCopies::advance() { state_->pass_moment(); }

void ThreadCopies::watch(std::uint64_t low, std::uint64_t high) {
  ThreadRecords& queue = state_->queue;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    Record& r = queue[i];
    if (r.kind != Record::Kind::copy) continue;
    std::uint32_t inside = 0;
    for_each_thread(r.mask, [&](std::uint32_t t) {
      const std::uint64_t from = r.carried->src[t];
      if (from < high && from + r.carried->src_bytes[t] > low) inside |= 1u << t;
    });
    watch_sources(r, inside);
  }
}

bool ThreadCopies::idle() const { return state_->copies == 0 && state_->arrivals == 0; }
bool ThreadCopies::arrivals_pending() const { return state_->arrivals != 0; }

std::uint32_t ThreadCopies::threads_in_flight() const {
  std::uint32_t threads = 0;
  for_each_in_flight([&](const Copy&, std::uint32_t mask) { threads |= mask; });
  return threads;
}

std::uint32_t ThreadCopies::groups_in_flight(std::uint32_t thread) const {
  const ThreadRecords& queue = state_->queue;
  std::uint32_t groups = 0;
  bool pending = false;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const bool own = queue[i].mask >> thread & 1;
    if (queue[i].kind == Record::Kind::copy) pending |= own;
    if (queue[i].kind == Record::Kind::commit) groups += own && pending;
  }
  return groups;
}

std::size_t ThreadCopies::in_flight_records() const { return state_->queue.size(); }

std::uint32_t ThreadCopies::record(std::size_t i, const Copy*& copy) const {
  const Record& r = state_->queue[i];
  copy = r.carried;
  return r.kind == Record::Kind::copy ? r.mask : 0;
}

}  // namespace inflight::async
