// Records events as numbers in a ring, which is cheap. fill() turns them into text for a finding.
#include "gpu/check/detect/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>

namespace inflight::check {
namespace {

constexpr std::size_t most_steps = 24;  // per finding, without its own accesses

using What = Step::What;

std::uint32_t blocks_of(const Extents& cluster) { return cluster.x * cluster.y * cluster.z; }

bool same(const CodePlace& a, const CodePlace& b) {
  return a.ptx_line == b.ptx_line && a.line == b.line && a.column == b.column &&
         a.mangled == b.mangled && a.inlined_at.size() == b.inlined_at.size() &&
         a.instruction == b.instruction;
}

What act_of(const CodePlace& place) {
  switch (place.act.kind) {
    case Act::Kind::reads:
      return What::read;
    case Act::Kind::writes:
      return What::wrote;
    case Act::Kind::other:
      return What::acted;
  }
  return What::acted;
}

bool is_of(const Who& who, const Party& party) {
  return party.threads && party.threads->block_number == who.block &&
         party.threads->warp == who.warp;
}

bool is_step_of(const Step& step, const Party& party) {
  return step.threads.block_number == party.threads->block_number &&
         step.threads.warp == party.threads->warp && same(step.place, party.place);
}

bool overlap(const std::optional<Bytes>& a, const std::optional<Bytes>& b) {
  return a && b && a->space == b->space && a->address < b->address + b->count &&
         b->address < a->address + a->count;
}

}  // namespace

std::uint64_t History::cluster_of(const Kernel& kernel, std::uint64_t block) const {
  const Extents &grid = kernel.grid, &cluster = kernel.cluster;
  if (blocks_of(cluster) <= 1) return block;
  const std::uint64_t x = block % grid.x, y = block / grid.x % grid.y, z = block / grid.x / grid.y;
  const std::uint64_t wide = grid.x / cluster.x, high = grid.y / cluster.y;
  return x / cluster.x + wide * (y / cluster.y + high * (z / cluster.z));
}

// Each host thread caches the ring of its last block, which is valid while that block runs.
History::Ring* History::ring_of(const Who& who) {
  struct Last {
    std::uint64_t turn = 0, launch = 0, block = 0;
    Ring* ring = nullptr;
  };
  thread_local Last last;
  if (last.turn == rings_.turn() && last.launch == who.launch && last.block == who.block)
    return last.ring;
  const Kernel* const kernel = places_.kernel(who.launch);
  if (!kernel) return nullptr;
  Ring& ring = rings_.get(kernel->launch, cluster_of(*kernel, who.block), [] {
    auto made = std::make_unique<Ring>();
    made->events.reserve(kept);
    return made;
  });
  last = {rings_.turn(), who.launch, who.block, &ring};
  return &ring;
}

// The event is built in its place. fill(Event&) adds what is not about the threads.
template <class Fill>
void History::put(What what, const Who& who, Fill&& fill) {
  Ring* const own = ring_of(who);
  if (!own) return;
  Ring& ring = *own;
  const std::lock_guard lock(ring.lock);
  if (ring.count < kept) ring.events.emplace_back();
  Event& event = *new (&ring.events[ring.count % kept]) Event{what, who};
  fill(event);
  ++ring.count;
}

void History::add(What what, const Who& who, const char* detail, std::uint64_t number) {
  put(what, who, [&](Event& event) { event.detail = detail, event.number = number; });
}

void History::copy_issued(const CopyIssued& copy) {
  put(What::issued, copy.who, [&](Event& event) {
    event.copy = copy.id;
    // The copy's shared-memory side, if it has one, because findings are mostly about that.
    const bool source = copy.to != Space::shared && copy.from == Space::shared;
    event.space = source ? copy.from : copy.to;
    event.from = std::numeric_limits<std::uint64_t>::max();
    copy.for_each_run([&](const CopyRun& run) {
      const std::uint64_t at = source ? run.source : run.destination;
      event.from = std::min(event.from, at);
      event.to = std::max(event.to, at + run.bytes);
      event.number += run.bytes;
    });
    if (event.from > event.to) event.from = event.to;
    event.detail = "{} bytes";
  });
}

void History::copy_committed(const CopyCommitted& commit) {
  add(What::committed, commit.who, nullptr);
}

void History::copy_completed(const CopyCompleted& copy) {
  put(What::completed, copy.who,
      [&](Event& event) { event.copy = copy.id, event.detail = "its bytes have moved"; });
}

void History::copy_waited(const CopyWaited& wait) {
  const bool all = wait.allowed == CopyWaited::all_copies || wait.allowed == 0;
  add(What::waited, wait.who, all ? "all groups" : "all but {} groups", all ? 0 : wait.allowed);
}

void History::barrier(const Barrier& barrier) {
  if (barrier.kind == BarrierKind::grid)
    return barrier.step == Barrier::Step::wait
               ? add(What::waited, barrier.who, "the preceding kernels are complete")
               : add(What::arrived, barrier.who, "dependent kernels may begin");
  switch (barrier.step) {
    case Barrier::Step::complete:
      return add(What::waited, barrier.who, "the barrier is complete");
    case Barrier::Step::wait:
      return add(What::waited, barrier.who, "phase {}", barrier.phase);
    default:
      return add(What::arrived, barrier.who, "phase {}", barrier.phase);
  }
}

void History::mbarrier(const MbarrierOp& op) {
  using Op = MbarrierOp::Op;
  const bool test = op.op == Op::test_wait || op.op == Op::try_wait;
  // Skips failed tests, which are repeated, and a copy's complete_tx, which copy_completed()
  // covers.
  if ((test && !op.done) || op.op == Op::pending_count || (op.op == Op::complete_tx && op.copy))
    return;
  put(test ? What::waited : What::arrived, op.who, [&](Event& event) {
    event.detail = test && op.by_parity ? "parity {}" : op.done ? "the phase is complete" : nullptr;
    event.number = op.parity;
    event.space = Space::shared;
    event.from = op.address, event.to = op.address + std::uint64_t{8};
  });
}

void History::fenced(const Fence& fence) { add(What::fenced, fence.who, nullptr); }

void History::forget(const BlockEnd& block) {
  rings_.ended(block.kernel->launch, cluster_of(*block.kernel, block.block),
               blocks_of(block.kernel->cluster));
}

void History::forget(const KernelEnd& launch) { rings_.launch_ended(launch.kernel->launch); }

Step History::step_of(const Event& event, std::vector<CopyName>& copies) const {
  Step step;
  step.what = event.what;
  step.place = places_.at(places_.of(event.who));
  step.threads = places_.threads(event.who);
  step.label = step.place.instruction;
  if (event.detail) step.label += ": " + fmt::format(fmt::runtime(event.detail), event.number);
  if (event.from < event.to)
    step.bytes = places_.bytes(event.who, event.space, event.from, event.to - event.from);
  if (event.copy) {
    // Copies are numbered in order of appearance, because an id is unique only in its warp.
    const CopyName name{event.who.block, event.who.warp, event.copy};
    const auto found = std::find(copies.begin(), copies.end(), name);
    step.copy = static_cast<std::uint64_t>(found - copies.begin()) + 1;
    if (found == copies.end()) copies.push_back(name);
  }
  return step;
}

void History::fill(Finding& finding) {
  if (!finding.moment.empty() || !finding.here.threads) return;
  const Threads& own = *finding.here.threads;
  const Kernel* const kernel = places_.kernel(own.launch);
  const std::shared_ptr<Ring> ring =
      kernel ? rings_.held(own.launch, cluster_of(*kernel, own.block_number)) : nullptr;
  if (!ring) return;

  const auto concerned = [&](const Event& event) {
    if (is_of(event.who, finding.here)) return true;
    const auto named = [&](const Party& each) { return is_of(event.who, each); };
    if (std::any_of(finding.there.begin(), finding.there.end(), named)) return true;
    if (std::any_of(finding.in_flight.begin(), finding.in_flight.end(), named)) return true;
    return finding.bytes && event.space == finding.bytes->space &&
           event.from < finding.bytes->address + finding.bytes->count &&
           finding.bytes->address < event.to;
  };
  std::vector<Step> steps;
  std::vector<CopyName> copies;
  {
    const std::lock_guard lock(ring->lock);
    const std::uint64_t first = ring->count > kept ? ring->count - kept : 0;
    std::vector<const Event*> chosen;
    for (std::uint64_t i = first; i < ring->count; ++i)
      if (concerned(ring->events[i % kept])) chosen.push_back(&ring->events[i % kept]);
    const std::size_t skipped = chosen.size() > most_steps ? chosen.size() - most_steps : 0;
    for (std::size_t i = skipped; i < chosen.size(); ++i)
      steps.push_back(step_of(*chosen[i], copies));
  }
  if (steps.empty()) return;

  // Marks the steps of the finding's two sides, or adds them: the other side's at the beginning.
  const auto mark = [&](const Party& party) {
    if (!party.threads) return true;
    Step* best = nullptr;  // the newest, preferably of the same bytes
    bool touches = false;
    for (Step& each : steps) {
      if (each.what == What::completed || !is_step_of(each, party)) continue;
      const bool overlaps = overlap(each.bytes, finding.bytes);
      if (touches && !overlaps) continue;
      best = &each, touches = overlaps;
    }
    if (best) best->here = true;
    return best != nullptr;
  };
  const auto own_step = [&](const Party& party) {
    Step step;
    step.what = act_of(party.place);
    step.label = party.did, step.place = party.place, step.threads = *party.threads;
    step.here = true;
    if (&party == &finding.here) step.bytes = finding.bytes;
    return step;
  };
  for (const Party& each : finding.there)
    if (!mark(each)) steps.insert(steps.begin(), own_step(each));
  if (!mark(finding.here)) steps.push_back(own_step(finding.here));
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].time = i + 1;
  finding.moment = std::move(steps);
}

}  // namespace inflight::check
