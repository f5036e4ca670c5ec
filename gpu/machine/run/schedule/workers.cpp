// Workers take clusters in turn. The launching thread is one of them.
#include "gpu/machine/run/schedule/workers.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "gpu/host/cores.hpp"
#include "gpu/machine/children/parent.hpp"
#include "gpu/machine/run/circumstances.hpp"
#include "gpu/machine/run/failing_waits.hpp"
#include "gpu/machine/run/in_flight.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/schedule/helpers.hpp"
#include "gpu/machine/run/schedule/spare_clusters.hpp"
#include "gpu/machine/run/worker.hpp"

namespace inflight::machine {
namespace {

constexpr std::uint32_t turn = 4096;  // rounds of a block's warps before other blocks get a turn

// True for kernels without loops and calls: their threads wait for no thread of another cluster.
bool without_waiting(const Grid& grid) {
  return !grid.entry->loops && grid.entry->calls.empty() && !grid.launch->prerequisites;
}

// The most cycles that a cluster of such a kernel takes.
std::uint64_t most_cycles(const Grid& grid) {
  const Launch& launch = *grid.launch;
  const std::uint64_t warps = (launch.block.count() + lanes - 1) / lanes * launch.cluster.count();
  return std::max<std::uint64_t>(grid.entry->ops.size() * warps, 1);
}

// The cycles that an ended cluster took.
std::uint64_t cycles_of(const Cluster& cluster) {
  return (cluster.blocks.front()->clock.now() - cluster.grid->begin) * cluster.blocks.size();
}

// Has every block that has not ended only polled, or been unable to run?
bool only_polled(const Cluster& cluster) {
  return std::all_of(cluster.blocks.begin(), cluster.blocks.end(),
                     [](const auto& block) { return block->ended || block->only_polled; });
}
// Did a block that polled also read the time?
bool polled_time(const Cluster& cluster) {
  return std::any_of(cluster.blocks.begin(), cluster.blocks.end(),
                     [](const auto& block) { return !block->ended && block->polled_time; });
}

// A worker whose clusters only wait, turn after turn, yields its core to those they wait for:
// kernels of other devices and processes, and threads of the host.
class IdleBackoff {
 public:
  // Returns true if the worker has waited for a while. Each of the `clusters` gets two turns before
  // the core is yielded, because one may be what the others wait for.
  bool turn(bool only_polled, std::size_t clusters) {
    constexpr std::size_t soon = 64, long_since = 4096;
    constexpr std::chrono::microseconds nap{50};
    idle_ = only_polled ? idle_ + 1 : 0;
    const std::size_t round = 2 * clusters;
    if (idle_ < soon + round) return false;
    if (idle_ < long_since + round)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(nap);
    return true;
  }

 private:
  std::size_t idle_ = 0;
};

// What a worker's blocks have executed, told in lots. A block that ends has run its code once,
// which its clock does not count.
class Warmth {
 public:
  explicit Warmth(Grid& grid) : grid_(grid) {}
  ~Warmth() {
    if (ops_ != 0) grid_.warm(ops_);
  }
  Warmth(const Warmth&) = delete;
  Warmth& operator=(const Warmth&) = delete;
  void add(Cluster& cluster) {
    for (const auto& block : cluster.blocks)
      ops_ += std::exchange(block->warmth, 0) + block->warps.size() * grid_.entry->ops.size();
    if (ops_ >= lot) grid_.warm(std::exchange(ops_, 0));
  }

 private:
  static constexpr std::uint64_t lot = std::uint64_t{1} << 18;
  Grid& grid_;
  std::uint64_t ops_ = 0;
};

// Does a listener want to know of threads that only poll?
bool is_watched(const Grid& grid) {
  return grid.observation && grid.observation->wants(check::Topic::hangs);
}

void run_clusters(Clusters& clusters, unsigned place) {
  Grid& grid = clusters.grid();
  WorkQueue* const joined = clusters.join(place);
  if (!joined) return;
  WorkQueue& queue = *joined;
  const WorkerOfThread worker;
  IdleBackoff backoff;
  SpareClusters spare(grid);
  std::uint64_t ended = 0;  // clusters, not yet reported
  Warmth warmth(grid);
  const bool watched = is_watched(grid);
  PollingPatience patience;
  while (!grid.stop.load(std::memory_order_relaxed)) {
    auto ticket = clusters.take(queue);
    if (!ticket) break;
    auto cluster = std::move(ticket.cluster);
    if (!cluster) {
      cluster = spare.take();
      cluster->start(ticket.fresh);
    }
    if (watched) queue.turn_begins();
    Prerequisites* const in_front = grid.launch->prerequisites;
    const bool held = in_front && cluster->held();
    const bool done = cluster->run(*worker, turn) == Cluster::State::done;
    if (watched) clusters.took_turn(queue, *worker, patience, *cluster, done);
    if (!done || grid.stop.load(std::memory_order_relaxed)) {
      const bool still_held = held && cluster->held();
      // What its threads poll may be written by grids that they have launched.
      if (backoff.turn(only_polled(*cluster) && !polled_time(*cluster), queue.suspended_count()) &&
          grid.parent)
        grid.parent->note_polling();
      clusters.suspend(queue, std::move(cluster));
      if (still_held) in_front->rest(clusters.joined());
    } else {
      backoff.turn(false, 0);
      queue.finished(cycles_of(*cluster));
      if (grid.heat) [[unlikely]]
        warmth.add(*cluster);
      spare.give_back(std::move(cluster));
      ++ended;
      if (clusters.part_ended(queue)) clusters.ended(std::exchange(ended, 0));
    }
  }
  if (ended != 0) clusters.ended(ended);
}

// An exception in one worker, such as out of memory, ends the launch for all.
void work(Clusters& clusters, unsigned place) {
  try {
    run_clusters(clusters, place);
  } catch (...) {
    clusters.grid().stop = true;
    throw;
  }
}

}  // namespace

Clusters::Clusters(Grid& grid, std::uint64_t total, std::uint64_t resident_limit, unsigned workers)
    : grid_(grid),
      total_(total),
      limit_(resident_limit),
      bounded_(resident_limit < total),
      queues_(workers),
      remaining_(total + 1) {
  grid.cancel = [this] { return cancel(); };
  if (workers == 1 || !without_waiting(grid)) return;
  first_length_ = WorkQueue::good_length(1, most_cycles(grid));
  parts_ = first_length_ > 1 && total / workers < FreshRun::most;
  if (!parts_) return;
  next_.store(total, std::memory_order_relaxed);
  runs_.store(true, std::memory_order_relaxed);
}

Clusters::~Clusters() {
  if (grid_.stop.load(std::memory_order_relaxed)) queues_.spoil();
}

FreshRun::Range Clusters::part_of(const WorkQueue& queue) const {
  const auto i = static_cast<std::uint64_t>(&queue - queues_.begin());
  const std::uint64_t first = total_ * i / workers(), end = total_ * (i + 1) / workers();
  return {first, static_cast<std::uint32_t>(end - first)};
}

WorkQueue* Clusters::join(unsigned place) {
  if (grid_.launch->prerequisites) joined_.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    WorkQueue& queue = queues_[(place + i) % queues_.size()];
    if (!queue.claim(queues_.use(), first_length_)) continue;
    if (parts_ && queue.take_part(queues_.use())) queue.fresh.fill(part_of(queue));
    return &queue;
  }
  return nullptr;
}

Clusters::Ticket Clusters::take(WorkQueue& queue) {
  const auto start = [this](FreshRun::Range run) {
    return Ticket{nullptr, start_order(grid_.options->turns, run.first, total_, limit_)};
  };
  if (const auto own = queue.fresh.pop(); own.count != 0) return start(own);
  auto run = dispatch(queue);
  if (run.count == 0 && runs_.load(std::memory_order_relaxed)) run = steal_fresh(queue);
  if (run.count != 0) {
    if (run.count > 1) {
      queue.fresh.fill({run.first + 1, run.count - 1});
      runs_.store(true, std::memory_order_relaxed);
    }
    return start(run);
  }
  if (queue.all_wait()) {  // perhaps for another worker's clusters
    queue.forget_waiting();
    if (auto other = steal_suspended(queue)) return {std::move(other)};
  }
  if (auto own = queue.resume()) return {std::move(own)};
  // Tries again, for clusters that a thief holds at this moment.
  for (int tries = 4; tries != 0 && suspends_.load(std::memory_order_relaxed); --tries) {
    if (auto other = steal_suspended(queue)) return {std::move(other)};
  }
  return {};
}

std::optional<std::uint64_t> Clusters::cancel() {
  std::uint64_t next = next_.load(std::memory_order_relaxed);
  do {
    if (next >= total_) return {};
  } while (!next_.compare_exchange_weak(next, next + 1, std::memory_order_relaxed));
  cancelled_.fetch_add(1);
  if (grid_.yet_to_begin != 0) grid_.begun(size());
  if (grid_.dependents)
    for (std::uint64_t block = 0; block < size(); ++block) grid_.launch_dependents(false);
  ended(1);
  return start_order(grid_.options->turns, next, total_, limit_);
}

// Dispatches the next clusters in order. A worker gets no more than its share of the remaining
// clusters and of the room.
FreshRun::Range Clusters::dispatch(WorkQueue& queue) {
  const std::uint64_t next = next_.load(std::memory_order_relaxed);
  if (next >= total_) return {};
  const std::uint64_t share =
      std::max<std::uint64_t>(1, std::min(limit_, total_ - next) / workers());
  std::uint64_t count = std::min<std::uint64_t>(queue.next_length(), share);
  if (bounded_) count = reserve(queue.report(), count);
  if (count == 0) return {};
  const std::uint64_t first = next_.fetch_add(count, std::memory_order_relaxed);
  const std::uint64_t given = first < total_ ? std::min(count, total_ - first) : 0;
  if (bounded_ && given != count) reserve(count - given, 0);
  return {first, static_cast<std::uint32_t>(given)};
}

// Makes up to `wanted` clusters resident, as far as there is room once `finished` have gone.
// Returns how many.
std::uint64_t Clusters::reserve(std::uint64_t finished, std::uint64_t wanted) {
  std::uint64_t resident = resident_.load(std::memory_order_relaxed), count = 0;
  do {
    count = std::min(wanted, limit_ - (resident - finished));
    if (count == finished) break;
  } while (!resident_.compare_exchange_weak(resident, resident - finished + count,
                                            std::memory_order_relaxed));
  return count;
}

template <class Visit>
bool Clusters::visit_others(const WorkQueue& self, Visit visit) {
  const auto at = static_cast<std::size_t>(&self - queues_.begin());
  for (std::size_t i = 1; i < queues_.size(); ++i)
    if (visit(queues_[(at + i) % queues_.size()])) return true;
  return false;
}

FreshRun::Range Clusters::steal_fresh(const WorkQueue& thief) {
  FreshRun::Range stolen;
  visit_others(thief, [&](WorkQueue& from) {
    stolen = from.fresh.steal();
    if (stolen.count == 0 && parts_ && from.take_part(queues_.use())) stolen = part_of(from);
    return stolen.count != 0;
  });
  return stolen;
}

std::unique_ptr<Cluster> Clusters::steal_suspended(WorkQueue& thief) {
  WorkQueue::Suspended stolen;
  visit_others(thief, [&](WorkQueue& from) {
    if (from.suspended_count() != 0) stolen = from.steal();
    return !stolen.empty();
  });
  if (stolen.empty()) return nullptr;
  auto cluster = std::move(stolen.front());
  stolen.pop_front();
  if (!stolen.empty()) thief.adopt(std::move(stolen));
  return cluster;
}

void Clusters::suspend(WorkQueue& queue, std::unique_ptr<Cluster> cluster) {
  if (!suspends_.load(std::memory_order_relaxed)) suspends_.store(true, std::memory_order_relaxed);
  const bool progressed =
      std::any_of(cluster->blocks.begin(), cluster->blocks.end(),
                  [](const auto& block) { return !block->ended && block->progressed; });
  queue.suspend(std::move(cluster), progressed);
}

void Clusters::took_turn(WorkQueue& queue, Worker& worker, PollingPatience& patience,
                         Cluster& cluster, bool done) {
  // What a grid's threads poll may be written by the grids that they have launched, or by threads
  // that wait for an earlier grid.
  if (done || !only_polled(cluster) || (grid_.parent && grid_.parent->busy()) ||
      grid_.waits_for_grids())
    standstill_.moved();
  else
    polled(queue, worker, patience, cluster);
  queue.turn_ended();
}

void Clusters::polled(WorkQueue& queue, Worker& worker, PollingPatience& patience,
                      Cluster& cluster) {
  const std::uint64_t time =
      nanoseconds(cluster.blocks.front()->clock.now(), grid_.limits->clock_khz);
  const bool stands = standstill_.polled(cluster.idle, polled_time(cluster), time);
  const std::uint64_t epoch = cluster.idle.epoch;
  patience.turn(epoch, worker.awake.now());
  if (!stands) return;
  const Standstill::Next next = standstill_.next(cluster.idle, live());
  if (next == Standstill::Next::flush) {
    if (cluster.in_flight && cluster.in_flight->ledger.flush_all())
      standstill_.moved();
    else
      standstill_.flushed(cluster.idle);
  }
  if (next == Standstill::Next::go_on) return;
  if (next == Standstill::Next::flush || !patience.due()) {
    // Threads that wait at an mbarrier may give up, as a program's own limit of tries or time has
    // it, and do what others poll for.
    if (let_waits_fail(cluster, worker).progressed) standstill_.moved();
    return;
  }
  if (about_to_begin()) return;
  std::vector<std::uint64_t> turns;
  for (const WorkQueue& each : queues_) turns.push_back(&each == &queue ? 0 : each.turn());
  if (!patience.over(turns) || standstill_.epoch() != epoch) return;
  const auto idle = std::chrono::duration_cast<std::chrono::milliseconds>(patience.idle());
  if (!grid_.observation->is_livelocked(cluster, not_begun(),
                                        static_cast<std::uint32_t>(idle.count())))
    return patience.renew();
  livelocked_.store(&cluster, std::memory_order_relaxed);
  grid_.fail(FaultKind::deadlock, to_text(deadlock_of(cluster)));
}

std::uint64_t Clusters::live() const {
  std::uint64_t ended = 0;
  for (const WorkQueue& queue : queues_) ended += queue.done(queues_.use());
  return std::min(next_.load(), total_) - ended - cancelled_.load();
}

std::uint64_t Clusters::not_begun() const {
  const std::uint64_t next = next_.load(std::memory_order_relaxed);
  return next < total_ ? (total_ - next) * size() : 0;
}

std::uint64_t Clusters::blocks_done() const {
  std::uint64_t done = cancelled_.load();
  for (const WorkQueue& queue : queues_) done += queue.done(queues_.use());
  return done * size();
}

std::vector<const Cluster*> Clusters::unfinished() const {
  std::vector<const Cluster*> all;
  for (const WorkQueue& queue : queues_)
    for (const auto& each : queue.suspended()) all.push_back(each.get());
  std::sort(all.begin(), all.end(), [](const Cluster* a, const Cluster* b) {
    return a->blocks.front()->linear < b->blocks.front()->linear;
  });
  return all;
}

void Clusters::ended(std::uint64_t clusters) {
  if (crew_ && remaining_.fetch_sub(clusters, std::memory_order_acq_rel) == clusters)
    crew_->all_ended();
}

Crew::Crew(Clusters& clusters) : clusters_(clusters) {
  if (clusters.workers() == 1) return;
  clusters.crew_ = this;
  helpers_.emplace([&clusters](unsigned place) { machine::work(clusters, place); },
                   clusters.workers() - 1);
}

Crew::Crew(Clusters& clusters, Crew& front) : clusters_(clusters) {
  clusters.crew_ = this;
  helpers_.emplace([&clusters](unsigned place) { machine::work(clusters, place); },
                   clusters.workers() - 1, *front.helpers_);
  front.next_ = this;
}

// A launch that has begun but is dropped ends.
Crew::~Crew() {
  if (!worked_) clusters_.grid().stop = true;
}

void Crew::resume() {
  if (!helpers_->opened()) clusters_.grid().begin_at_clock();
  helpers_->resume();
}

void Crew::work() {
  worked_ = true;
  if (helpers_) clusters_.ended(1);
  machine::work(clusters_, 0);
  if (helpers_) helpers_->finish();
}

void Crew::all_ended() {
  const Grid& grid = clusters_.grid();
  if (!next_ || grid.stop) return;
  next_->clusters_.grid().begin_behind(grid);
  helpers_->open_next();
}

// At least two, even on one core: one has to continue while another waits.
unsigned most_workers() { return std::max(2u, host::cores()); }

}  // namespace inflight::machine
