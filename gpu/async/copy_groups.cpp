// Copies in flight: which bytes move at which call.
#include "gpu/async/copy_groups.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "gpu/async/fingerprint.hpp"
#include "gpu/async/record_queue.hpp"

namespace inflight::async {
namespace {

constexpr std::uint32_t everyone = 0xffffffff;
constexpr std::size_t max_records = 4096;

template <class F>
void for_each_thread(std::uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

// Address arithmetic on integers: a base of null means that addresses are host addresses.
std::byte* destination(const Copy& c, std::uint32_t t) { return c.dst_base + c.dst[t]; }
const std::byte* source(const Copy& c, std::uint32_t t) {
  return reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(c.src_base) +
                                            c.src[t]);
}

template <std::size_t bytes>
void move_whole(const Copy& c, std::uint32_t mask) {
  if (mask == everyone) {
    for (std::uint32_t t = 0; t < team_size; ++t)
      std::memcpy(destination(c, t), source(c, t), bytes);
    return;
  }
  for_each_thread(mask,
                  [&](std::uint32_t t) { std::memcpy(destination(c, t), source(c, t), bytes); });
}

void move_filled(const Copy& c, std::uint32_t mask) {
  for_each_thread(mask, [&](std::uint32_t t) {
    const std::size_t from_source = c.src_bytes[t];
    if (from_source != 0) std::memcpy(destination(c, t), source(c, t), from_source);
    std::memset(destination(c, t) + from_source, 0, c.bytes - from_source);
  });
}

void move_bytes(const Copy& c, std::uint32_t mask, bool whole) {
  if (!whole) return move_filled(c, mask);
  if (c.bytes == 16) return move_whole<16>(c, mask);
  if (c.bytes == 8) return move_whole<8>(c, mask);
  move_whole<4>(c, mask);
}

mbarrier::Word& word_at(std::byte* base, std::uint32_t address) {
  return *reinterpret_cast<mbarrier::Word*>(base + address);
}

// Counts commits for 32 threads at once, bit-sliced: threads that reach `limit` carry out.
class ThreadCounters {
 public:
  explicit ThreadCounters(std::uint32_t limit)
      : planes_(static_cast<unsigned>(std::bit_width(limit - 1))) {
    const std::uint32_t start = (1u << planes_) - limit;
    for (unsigned p = 0; p < planes_; ++p) plane_[p] = start >> p & 1 ? everyone : 0;
  }
  // Counts one for `threads` and returns those that have now reached the limit.
  std::uint32_t add(std::uint32_t threads) {
    for (unsigned p = 0; p < planes_ && threads != 0; ++p) {
      const std::uint32_t carry = plane_[p] & threads;
      plane_[p] ^= threads;
      threads = carry;
    }
    return threads;
  }

 private:
  unsigned planes_;
  std::uint32_t plane_[32];
};

std::uint32_t thread_over(const Issue& issue) {
  std::uint32_t found = team_size;
  for_each_thread(issue.mask, [&](std::uint32_t t) {
    if (found == team_size && issue.src_bytes[t] > issue.bytes) found = t;
  });
  return found;
}

Random stream_of(Timing timing, std::uint64_t number) {
  return Random(timing.seed ^ (number * 0xd1342543de82ef95));
}

void report(Violation violation, std::uint32_t thread, std::uint32_t mbarrier, std::uint64_t tag,
            Progress& progress) {
  if (violation == Violation::none) return;
  if (progress.violation != Violation::none) {
    const auto same = [&](const Breach& b) { return b.rule == violation && b.tag == tag; };
    if (!same({progress.violation, progress.tag}) &&
        std::none_of(progress.others.begin(), progress.others.end(), same))
      progress.others.push_back({violation, tag});
    return;
  }
  progress.violation = violation;
  progress.thread = thread;
  progress.mbarrier = mbarrier;
  progress.tag = tag;
}

Progress refuse(Violation violation, std::uint32_t thread, std::uint64_t tag) {
  Progress p;
  report(violation, thread, 0, tag, p);
  return p;
}

std::uint64_t source_fingerprint(const Copy& c, std::uint32_t t) {
  return c.src_bytes[t] == 0 ? 0 : fingerprint(source(c, t), c.src_bytes[t]);
}

void watch_sources(Record& record, std::uint32_t mask) {
  Copy& c = *record.carried;
  for_each_thread(mask & ~record.watched,
                  [&](std::uint32_t t) { c.src_fingerprint[t] = source_fingerprint(c, t); });
  record.watched |= mask;
}

void check_sources(const Record& record, std::uint32_t mask, Progress& progress) {
  const Copy& c = *record.carried;
  for_each_thread(record.watched & mask, [&](std::uint32_t t) {
    if (source_fingerprint(c, t) != c.src_fingerprint[t])
      report(Violation::source_modified, t, 0, c.tag, progress);
  });
}

}  // namespace

struct Team::State {
  State(Timing t, std::uint64_t number, CopyObserver* o)
      : timing(t), random(stream_of(t, number)), observer(o) {}

  Timing timing;
  Random random;
  CopyObserver* observer;
  RecordQueue queue;
  std::uint64_t ids = 0;
  std::size_t copies = 0, arrivals = 0;                      // records that are still outstanding
  std::vector<std::pair<std::size_t, std::uint32_t>> ready;  // records and threads, to be shuffled

  bool early() const { return timing.policy == Timing::Policy::early; }
  bool shuffled() const { return timing.policy == Timing::Policy::shuffled; }

  bool fill(Copy& copy, const Issue& issue);
  void perform(Record& record, std::uint32_t mask, Progress& progress);
  void fire(Record& record, std::uint32_t mask, Progress& progress);
  void expect_arrival(Record& record, std::uint32_t thread, Progress& progress);
  void make_room(Progress& progress);
  void mark_all(std::uint32_t mask, std::size_t end);
  void mark_groups(std::uint32_t mask, std::uint32_t newest_allowed);
  void settle(Progress& progress);
  void complete_in_order(Progress& progress);
  void complete_shuffled(Progress& progress);
  bool gather(bool only_due);
  void perform_ready(bool some, Progress& progress);
  void close(Progress& progress);
  void drop_finished();
  void pass_moment(Progress& progress);
  std::size_t find_arrival(const mbarrier::Word* word, std::uint32_t& threads) const;
};

// Returns whether no thread zero-fills.
bool Team::State::fill(Copy& copy, const Issue& issue) {
  copy.id = ++ids;
  copy.tag = issue.tag;
  copy.mask = issue.mask;
  copy.bytes = issue.bytes;
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
void Team::State::perform(Record& record, std::uint32_t mask, Progress& progress) {
  if (record.watched != 0) [[unlikely]]
    check_sources(record, mask, progress);
  move_bytes(*record.carried, mask, record.whole);
  record.mask &= ~mask;
  record.due &= ~mask;
  if (record.mask == 0) --copies;
  progress.moved = true;
  if (observer != nullptr) [[unlikely]]
    observer->completed(*record.carried, mask);
}

// Makes the arrivals of these threads.
void Team::State::fire(Record& record, std::uint32_t mask, Progress& progress) {
  const Copy& c = *record.carried;
  record.mask &= ~mask;
  if (record.mask == 0) --arrivals;
  for_each_thread(mask, [&](std::uint32_t t) {
    const mbarrier::Step step = mbarrier::arrive(word_at(c.dst_base, c.dst[t]));
    progress.phase_completed |= step.completed;
    report(step.violation, t, c.dst[t], c.tag, progress);
    if (observer != nullptr) [[unlikely]]
      observer->arrived({c.id, c.tag, t, c.dst[t], record.noinc}, step);
  });
}

// One thread's arrival begins; one that breaks a rule never comes.
void Team::State::expect_arrival(Record& record, std::uint32_t t, Progress& progress) {
  const Copy& c = *record.carried;
  const Violation v =
      record.noinc ? Violation::none : mbarrier::add_pending(word_at(c.dst_base, c.dst[t]));
  report(v, t, c.dst[t], c.tag, progress);
  if (v != Violation::none) record.mask &= ~(1u << t);
  if (observer != nullptr) [[unlikely]]
    observer->arrival_issued({c.id, c.tag, t, c.dst[t], record.noinc}, v);
}

// Every copy of these threads among the first `end` records falls due.
void Team::State::mark_all(std::uint32_t mask, std::size_t end) {
  for (std::size_t i = 0; i < end; ++i)
    if (queue[i].kind != Record::Kind::arrival) queue[i].due = queue[i].mask & mask;
}

// The copies of all but each thread's newest groups fall due. Walking back from the newest record,
// a thread's copies are due once it has passed its commit number newest_allowed + 1.
void Team::State::mark_groups(std::uint32_t mask, std::uint32_t newest_allowed) {
  if (newest_allowed >= queue.size()) return;
  ThreadCounters commits(newest_allowed + 1);
  std::uint32_t due = 0;
  for (std::size_t i = queue.size(); i-- > 0;) {
    Record& r = queue[i];
    if (r.kind == Record::Kind::commit) due |= commits.add(r.mask & mask & ~due);
    if (r.kind != Record::Kind::arrival) r.due = r.mask & due;
  }
}

// Completes what is due, makes the arrivals that nothing holds back any more, forgets what is done.
void Team::State::settle(Progress& progress) {
  shuffled() ? complete_shuffled(progress) : complete_in_order(progress);
  close(progress);
}

void Team::State::complete_in_order(Progress& progress) {
  for (std::size_t i = 0; i < queue.size(); ++i) {
    Record& r = queue[i];
    if (r.kind == Record::Kind::copy && r.due != 0) perform(r, r.due, progress);
  }
}

void Team::State::complete_shuffled(Progress& progress) {
  while (gather(true)) perform_ready(false, progress);
}

// Collects what may complete next: the copies of each thread's oldest unfinished group.
bool Team::State::gather(bool only_due) {
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

void Team::State::perform_ready(bool some, Progress& progress) {
  for (std::size_t i = ready.size(); i > 1; --i)
    std::swap(ready[i - 1], ready[random.below(static_cast<std::uint32_t>(i))]);
  for (auto [index, threads] : ready) {
    if (some) threads &= static_cast<std::uint32_t>(random.next() >> 32);
    if (threads != 0) perform(queue[index], threads, progress);
  }
}

void Team::State::close(Progress& progress) {
  std::uint32_t busy = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    Record& r = queue[i];
    if (r.kind == Record::Kind::copy) busy |= r.mask;
    if (r.kind == Record::Kind::commit) r.mask &= ~std::exchange(r.due, 0);
    if (r.kind != Record::Kind::arrival) continue;
    if (const std::uint32_t free = r.mask & ~busy) fire(r, free, progress);
  }
  drop_finished();
}

// A commit with nothing before it bounds nothing.
void Team::State::drop_finished() {
  while (queue.size() > 0 && (queue[0].mask == 0 || queue[0].kind == Record::Kind::commit))
    queue.pop_front();
}

void Team::State::make_room(Progress& progress) {
  if (queue.size() < max_records) return;
  mark_all(everyone, max_records / 4);
  settle(progress);
}

void Team::State::pass_moment(Progress& progress) {
  if (!shuffled() || copies == 0 || random.below(4) != 0) return;
  if (gather(false)) perform_ready(true, progress);
  close(progress);
}

// The first record with pending arrivals on this mbarrier, and whose they are; size() if none.
std::size_t Team::State::find_arrival(const mbarrier::Word* word, std::uint32_t& threads) const {
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Record& r = queue[i];
    if (r.kind != Record::Kind::arrival) continue;
    threads = 0;
    for_each_thread(r.mask, [&](std::uint32_t t) {
      const Copy& c = *r.carried;
      if (&word_at(c.dst_base, c.dst[t]) == word) threads |= 1u << t;
    });
    if (threads != 0) return i;
  }
  return queue.size();
}

Team::Team(Timing timing, std::uint64_t number, CopyObserver* observer)
    : state_(std::make_unique<State>(timing, number, observer)) {}
Team::Team(Team&&) noexcept = default;
Team& Team::operator=(Team&&) noexcept = default;
Team::~Team() = default;

void Team::reset(Timing timing, std::uint64_t number, CopyObserver* observer) {
  State& s = *state_;
  s.timing = timing;
  s.random = stream_of(timing, number);
  s.observer = observer;
  s.queue.clear();
  s.copies = s.arrivals = s.ids = 0;
}

Progress Team::issue(const Issue& issue) {
  State& s = *state_;
  Progress progress;
  if (issue.mask == 0) return progress;
  if (issue.bytes != 4 && issue.bytes != 8 && issue.bytes != 16)
    return refuse(Violation::copy_size, std::countr_zero(issue.mask), issue.tag);
  if (issue.src_bytes != nullptr)
    if (const std::uint32_t t = thread_over(issue); t < team_size)
      return refuse(Violation::source_size, t, issue.tag);
  s.make_room(progress);
  Record& r = s.queue.push(Record::Kind::copy, issue.mask, true);
  ++s.copies;
  r.whole = s.fill(*r.carried, issue);
  if (s.observer != nullptr) [[unlikely]]
    s.observer->issued(*r.carried);
  if (s.early()) {
    s.perform(r, issue.mask, progress);
    s.drop_finished();
  } else if (issue.watch) {
    watch_sources(r, issue.mask);
  }
  s.pass_moment(progress);
  return progress;
}

Progress Team::commit(std::uint32_t mask, std::uint64_t tag) {
  State& s = *state_;
  Progress progress;
  if (mask == 0) return progress;
  if (s.observer != nullptr) [[unlikely]]
    s.observer->committed(mask, tag);
  s.make_room(progress);
  if (s.copies != 0) s.queue.push(Record::Kind::commit, mask, false);
  s.pass_moment(progress);
  return progress;
}

Progress Team::wait_group(std::uint32_t mask, std::uint32_t newest_allowed, std::uint64_t tag) {
  State& s = *state_;
  Progress progress;
  if (s.copies != 0) {
    s.mark_groups(mask, newest_allowed);
    s.settle(progress);
    s.pass_moment(progress);
  }
  if (s.observer != nullptr) [[unlikely]]
    s.observer->waited(mask, newest_allowed, tag);
  return progress;
}

Progress Team::wait_all(std::uint32_t mask, std::uint64_t tag) {
  State& s = *state_;
  Progress progress;
  if (s.copies != 0) {
    s.mark_all(mask, s.queue.size());
    s.settle(progress);
  }
  if (s.observer != nullptr) [[unlikely]]
    s.observer->waited(mask, CopyObserver::all_copies, tag);
  return progress;
}

Progress Team::arrive(const ArriveIssue& issue) {
  State& s = *state_;
  Progress progress;
  if (issue.mask == 0) return progress;
  s.make_room(progress);
  Record& r = s.queue.push(Record::Kind::arrival, issue.mask, true);
  ++s.arrivals;
  r.noinc = issue.noinc;
  Copy& c = *r.carried;
  c.id = ++s.ids;
  c.tag = issue.tag;
  c.mask = issue.mask;
  c.dst_base = issue.base;
  std::memcpy(c.dst.data(), issue.mbarrier, sizeof c.dst);
  for_each_thread(issue.mask, [&](std::uint32_t t) { s.expect_arrival(r, t, progress); });
  if (r.mask == 0) --s.arrivals;
  s.close(progress);
  return progress;
}

Progress Team::flush_for(const mbarrier::Word* word) {
  State& s = *state_;
  Progress progress;
  if (s.arrivals == 0) return progress;
  const std::uint32_t phase = mbarrier::decode(*word).parity;
  for (std::uint32_t threads = 0; mbarrier::decode(*word).parity == phase;) {
    const std::size_t i = s.find_arrival(word, threads);
    if (i == s.queue.size()) break;
    s.mark_all(threads, i);
    s.settle(progress);
  }
  return progress;
}

Progress Team::flush(std::uint32_t mask) {
  State& s = *state_;
  Progress progress;
  if (idle()) return progress;
  s.mark_all(mask, s.queue.size());
  s.settle(progress);
  return progress;
}

Progress Team::advance() {
  Progress progress;
  state_->pass_moment(progress);
  return progress;
}

void Team::watch(std::uint64_t low, std::uint64_t high) {
  RecordQueue& queue = state_->queue;
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

bool Team::idle() const { return state_->copies == 0 && state_->arrivals == 0; }
bool Team::arrivals_pending() const { return state_->arrivals != 0; }

std::uint32_t Team::threads_in_flight() const {
  std::uint32_t threads = 0;
  for_each_in_flight([&](const Copy&, std::uint32_t mask) { threads |= mask; });
  return threads;
}

std::uint32_t Team::groups_in_flight(std::uint32_t thread) const {
  const RecordQueue& queue = state_->queue;
  std::uint32_t groups = 0;
  bool pending = false;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const bool own = queue[i].mask >> thread & 1;
    if (queue[i].kind == Record::Kind::copy) pending |= own;
    if (queue[i].kind == Record::Kind::commit) groups += own && pending;
  }
  return groups;
}

std::size_t Team::in_flight_records() const { return state_->queue.size(); }

std::uint32_t Team::record(std::size_t i, const Copy*& copy) const {
  const Record& r = state_->queue[i];
  copy = r.carried;
  return r.kind == Record::Kind::copy ? r.mask : 0;
}

}  // namespace inflight::async
