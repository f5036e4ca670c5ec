// Events of synchronisation: fences, barriers, collectives and waits.
#include <algorithm>
#include <tuple>
#include <vector>

#include "gpu/machine/instruction/observed_access.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/observe/events.hpp"
#include "gpu/machine/run/warpgroup.hpp"

namespace inflight::machine {
namespace {

using check::Topic;
using ptx::Space;

check::Barrier::Step step_of(BarrierUse::Step step) {
  using Step = check::Barrier::Step;
  switch (step) {
    case BarrierUse::Step::arrive:
      return Step::arrive;
    case BarrierUse::Step::wait:
      return Step::wait;
    case BarrierUse::Step::sync:
      return Step::sync;
    default:
      return Step::reduce;
  }
}

// Calls f(value, lanes that have it) for each distinct value in the lanes of `mask`.
template <class T, class F>
void each_value(std::uint32_t mask, const T* values, F f) {
  while (mask) {
    const T value = values[std::countr_zero(mask)];
    std::uint32_t same = 0;
    each_lane(mask, [&](int l) { same |= values[l] == value ? 1u << l : 0; });
    f(value, same);
    mask &= ~same;
  }
}

check::Fence fence_event(const Fence& fence) {
  check::Fence event;
  event.kind = fence.kind;
  event.order = fence.order;
  event.scope = fence.scope;
  event.from = fence.from, event.to = fence.to;
  event.limited = fence.only != Space::generic;
  if (event.limited) event.space = check_space(fence.only);
  event.own_only = fence.only == Space::shared_cta;
  return event;
}

}  // namespace

void LaunchEvents::fenced(const Warp& w, const Op* op, std::uint32_t mask) const {
  if (!wants(Topic::fences)) return;
  check::Fence event = fence_event(use_of<Fence>(op));
  event.who = who(w, mask, op);
  if (op->what->memory.empty()) return listener().fenced(event);
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, Space::generic, addresses);
  event.bytes = op->what->memory.front().bytes;
  each_value(mask, addresses, [&](std::uint64_t address, std::uint32_t same) {
    event.who.mask = same;
    event.limited = true;
    event.space = check_space(space_of(w, address));
    event.address = address;
    listener().fenced(event);
  });
}

void LaunchEvents::met(Warp& w, const Op* op, std::uint32_t present, std::uint32_t members) const {
  if (wants(Topic::collectives)) {
    check::Collective event{who(w, present, op)};
    const auto* const use = op->what->as<CollectiveUse>();
    event.kind = use ? use->kind : check::Collective::Kind::sync;
    event.members = members;
    listener().collective(event);
  }
  wait_ended(w, {op, w.frame, present, Wait::collective, members});
}

void LaunchEvents::arrived(const Warp& w, const Op* op, std::uint32_t id, std::uint32_t given,
                           std::uint32_t expected, const NamedBarrier& barrier) const {
  if (!wants(Topic::barriers)) return;
  const auto& use = use_of<BarrierUse>(op);
  check::Barrier event{who(w, w.mask, op)};
  event.step = step_of(use.step);
  event.id = id;
  event.expected = expected;
  event.given = given;
  event.arrived = barrier.arrived;
  event.phase = barrier.phase;
  event.aligned = use.aligned;
  event.order = use.order;
  listener().barrier(event);
}

void LaunchEvents::completed(const Block& block, std::uint32_t id, const NamedBarrier& barrier,
                             const LastToArrive& last) const {
  if (block.counts)
    ++block.counts->sums.barriers[static_cast<std::size_t>(check::BarrierKind::cta)];
  if (!wants(Topic::barriers)) return;
  check::Barrier event{who(last)};
  event.step = check::Barrier::Step::complete;
  event.id = id;
  event.expected = barrier.expected;
  event.arrived = barrier.arrived;
  event.phase = barrier.phase;
  listener().barrier(event);
}

void LaunchEvents::cluster_step(const Warp& w, const Op* op, std::uint32_t mask,
                                std::uint64_t phase, bool alone) const {
  if (!wants(Topic::barriers)) return;
  const auto& use = use_of<BarrierUse>(op);
  check::Barrier event{who(w, mask, op)};
  event.kind = check::BarrierKind::cluster;
  event.step = alone ? check::Barrier::Step::wait_alone : step_of(use.step);
  event.arrived = static_cast<std::uint32_t>(w.block->cluster->arrived());
  event.phase = phase;
  event.aligned = use.aligned;
  event.order = use.order;
  listener().barrier(event);
}

void LaunchEvents::dependents_may_begin(const Warp& w, const Op* op, bool first) const {
  if (!wants(Topic::barriers)) return;
  check::Barrier event{who(w, w.mask, op)};
  event.kind = check::BarrierKind::grid;
  event.step = check::Barrier::Step::arrive;
  event.expected = static_cast<std::uint32_t>(grid_.launch->grid.count());
  event.arrived = first ? ++let_dependents_begin_ : let_dependents_begin_.load();
  listener().barrier(event);
}

void LaunchEvents::grids_ended(const Warp& w, const Op* op) const {
  if (!wants(Topic::barriers)) return;
  check::Barrier event{who(w, w.mask, op)};
  event.kind = check::BarrierKind::grid;
  event.step = check::Barrier::Step::wait;
  listener().barrier(event);
}

void LaunchEvents::cluster_completed(const Cluster& cluster, const LastToArrive& last) const {
  if (Counts* const counts = cluster.blocks.front()->counts)
    ++counts->sums.barriers[static_cast<std::size_t>(check::BarrierKind::cluster)];
  if (!wants(Topic::barriers)) return;
  check::Barrier event{who(last)};
  event.kind = check::BarrierKind::cluster;
  event.step = check::Barrier::Step::complete;
  event.arrived = static_cast<std::uint32_t>(cluster.arrived());
  event.phase = cluster.phase();
  listener().barrier(event);
}

check::Wait LaunchEvents::wait_event(const Warp& w, const Split& s, std::uint32_t mask) const {
  using For = check::Wait::For;
  check::Wait event{{kernel_.launch, w.block->linear, w.index, mask,
                     s.frame->code->first_number + s.pc->instruction}};
  switch (s.wait) {
    case Wait::grids:
    case Wait::cluster:
      event.kind = s.wait == Wait::grids ? check::BarrierKind::grid : check::BarrierKind::cluster;
      [[fallthrough]];
    case Wait::barrier:
      event.what = For::barrier;
      event.id = static_cast<std::uint32_t>(s.detail);
      break;
    case Wait::mbarrier:
      event.what = For::mbarrier;
      event.id = static_cast<std::uint32_t>(s.detail);
      event.parity = s.parity ? 1 : 0;
      break;
    case Wait::collective:
      event.what = For::collective;
      event.members = static_cast<check::Mask>(s.detail);
      break;
    case Wait::warpgroup:
      event.what = For::warpgroup;
      if (!RegistersAwaited::is_in(s.detail))
        event.members = static_cast<check::Mask>(s.detail) << w.index / 4 * 4;
      break;
    case Wait::columns:
      event.what = For::columns;
      event.id = static_cast<std::uint32_t>(s.detail);
      break;
    case Wait::endless:
      event.what = For::nothing;
      event.id = static_cast<std::uint32_t>(s.detail);
      break;
    default:
      event.what = For::sleep;
  }
  return event;
}

void LaunchEvents::report_wait(const Warp& w, const Split& s, std::uint32_t mask,
                               check::Wait::Step step) const {
  check::Wait event = wait_event(w, s, mask);
  event.step = step;
  listener().waited(event);
}

std::vector<check::Stuck::Threads> LaunchEvents::threads_of(const Cluster& cluster) const {
  std::vector<check::Stuck::Threads> threads;
  for (const auto& block : cluster.blocks)
    for (const auto& w : block->warps)
      for (const Split& s : w->parked)
        if (const std::uint32_t live = block->ended ? 0 : s.mask & w->alive)
          threads.push_back({wait_event(*w, s, live), s.wait == Wait::nothing,
                             s.wait == Wait::nothing && w->polled == 0 && block->exchanges == 0});
  std::stable_sort(threads.begin(), threads.end(), [](const auto& a, const auto& b) {
    const check::Who &x = a.wait.who, &y = b.wait.who;
    return std::tie(x.block, x.warp, x.instruction) < std::tie(y.block, y.warp, y.instruction);
  });
  return threads;
}

void LaunchEvents::stuck(const Cluster& cluster, check::Stuck::Why why,
                         std::uint64_t not_begun) const {
  if (!wants(Topic::hangs)) return;
  const auto threads = threads_of(cluster);
  listener().stuck({&kernel_, cluster.blocks.front()->linear, why, threads, not_begun});
}

bool LaunchEvents::is_livelocked(const Cluster& cluster, std::uint64_t not_begun,
                                 std::uint32_t idle_ms) const {
  if (!wants(Topic::hangs)) return false;
  const auto threads = threads_of(cluster);
  const check::Stuck event{
      &kernel_, cluster.blocks.front()->linear, check::Stuck::Why::only_polling, threads, not_begun,
      idle_ms};
  return listener().is_livelocked(event);
}

// Lanes that wake and have to wait again are not reported again: the wait continues.
void LaunchEvents::wait_begun(Warp& w, const Split& split) const {
  if (!wants(Topic::waits)) return;
  const std::uint32_t fresh = split.mask & ~w.waiting;
  w.waiting |= fresh;
  if (fresh) report_wait(w, split, fresh, check::Wait::Step::begin);
}

void LaunchEvents::wait_ended(Warp& w, const Split& split) const {
  const std::uint32_t done = split.mask & w.waiting;
  if (!done) return;
  w.waiting &= ~done;
  report_wait(w, split, done, check::Wait::Step::end);
}

}  // namespace inflight::machine
