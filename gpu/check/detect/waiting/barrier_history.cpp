// Follows the phases of a block's barriers from their arrivals.
#include "gpu/check/detect/waiting/barrier_history.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace inflight::check {
namespace {

using What = BarrierBreach::What;

bool is_whole_warp(const BarrierArrival& each) { return each.waits && each.who.mask == ~Mask{0}; }

}  // namespace

// As for an mbarrier, an arrival must come from threads that can know that the previous phase is
// complete.
bool BlockBarriers::may_know_previous(const Named& barrier, std::uint32_t warp,
                                      const WarpOrder& order) {
  for (const Observer& each : barrier.observers)
    if (order.knows(warp, each.warp, each.time)) return true;
  return std::all_of(
      barrier.previous.begin(), barrier.previous.end(),
      [&](const BarrierArrival& each) { return order.knows(warp, each.warp, each.time); });
}

void BlockBarriers::note(const Barrier& event, std::uint32_t warp, std::uint32_t threads,
                         WarpOrder& order, Breaches& out) {
  if (event.id >= most) return;
  if (event.id >= barriers_.size()) barriers_.resize(event.id + 1);
  Named& barrier = barriers_[event.id];
  if (event.step == Barrier::Step::complete) return complete(barrier, threads, order, out);
  BarrierPhase& phase = barrier.current;
  const auto whole = [&](std::uint32_t count) { return count == 0 || count == threads; };
  if (phase.arrived != 0 && phase.expected != event.expected &&
      !(whole(phase.expected) && whole(event.expected)))
    return out.push_back({What::counts_differ, event.who, phase.arrivals, event.id, event.expected,
                          phase.expected, 0});
  const bool counted = !whole(event.expected) || !whole(barrier.previous_expected);
  if (event.given % lanes != 0 && event.given != threads)
    out.push_back({What::not_whole_warps, event.who, {}, event.id, event.given, 0, 0});
  // A warp that has arrived (bar.arrive) may wait in the same phase, as CUTLASS's epilogues do.
  for (const BarrierArrival& each : phase.arrivals)
    if (event.step == Barrier::Step::arrive && each.warp == warp &&
        each.who.mask & event.who.mask) {
      out.push_back({What::arrived_twice, event.who, {each}, event.id, event.expected, 0, 0});
      break;
    }
  if (counted && phase.number != 0 && !may_know_previous(barrier, warp, order)) {
    std::uint32_t before = 0;
    for (const BarrierArrival& each : barrier.previous) before += each.threads;
    out.push_back({What::stray_arrival, event.who, barrier.previous, event.id,
                   whole(barrier.previous_expected) ? event.expected : barrier.previous_expected,
                   before + lanes, 0});
  }
  const bool waits = event.step != Barrier::Step::arrive;
  phase.arrivals.push_back(
      {event.who, warp, event.arrived - phase.arrived, waits, event.aligned, order.step(warp)});
  phase.arrived = event.arrived;
  phase.expected = std::max(phase.expected, event.expected);
  // What a warp that waits as a whole passes on is joined when the phase completes.
  if (is_whole_warp(phase.arrivals.back()))
    ++phase.whole_warps;
  else
    order.release(warp, barrier.passed);
}

// Those that arrived in the phase before this one, and not in this one.
std::vector<BarrierArrival> BlockBarriers::gone_since(const Named& barrier) {
  std::vector<BarrierArrival> gone;
  for (BarrierArrival each : barrier.last) {
    for (const BarrierArrival& now : barrier.current.arrivals)
      if (now.warp == each.warp) each.who.mask &= ~now.who.mask;
    if (each.who.mask != 0) gone.push_back(each);
  }
  return gone;
}

void BlockBarriers::complete(Named& barrier, std::uint32_t threads, WarpOrder& order,
                             Breaches& out) {
  BarrierPhase& phase = barrier.current;
  const auto& all = phase.arrivals;
  if (phase.expected == 0 && phase.arrived < threads && !all.empty())
    out.push_back(
        {What::others_ended, all.front().who, gone_since(barrier), 0, threads, phase.arrived, 0});
  if (phase.expected == 0) {
    if (!left_.empty()) find_passed(phase, out);
    barrier.mixed.clear();
    if (std::ranges::any_of(all, [&](const BarrierArrival& each) {
          return each.who.instruction != all.front().who.instruction;
        }))
      barrier.mixed = all;
  }
  for (std::size_t i = 0; i < all.size() && phase.whole_warps != all.size(); ++i) {
    const BarrierArrival& one = all[i];
    if (!one.aligned || one.who.mask == ~Mask{0}) continue;
    for (std::size_t j = 0; j < i; ++j) {
      const BarrierArrival& other = all[j];
      if (other.warp != one.warp || !other.aligned || other.who.instruction == one.who.instruction)
        continue;
      const bool first = other.who.instruction < one.who.instruction;
      out.push_back({What::warp_parted,
                     first ? other.who : one.who,
                     {first ? one : other},
                     0,
                     phase.expected,
                     0,
                     0});
    }
  }
  barrier.observers.clear();
  const bool all_meet = phase.whole_warps == order.warps();
  if (all_meet) {
    order.meet();
  } else {
    for (const BarrierArrival& each : all)
      if (is_whole_warp(each)) order.release(each.warp, barrier.passed);
    for (const BarrierArrival& each : all)
      if (each.waits) order.acquire(each.warp, barrier.passed);
  }
  if (phase.expected != 0)
    for (const BarrierArrival& each : all)
      if (each.waits) barrier.observers.push_back({each.warp, order.step(each.warp)});
  barrier.previous_expected = phase.expected;
  barrier.previous.clear();
  if (phase.expected != 0) barrier.previous = phase.arrivals;
  std::swap(barrier.last, phase.arrivals);
  phase.arrivals.clear();
  phase.expected = phase.arrived = phase.whole_warps = 0;
  ++phase.number;
}

const BarrierArrival* BlockBarriers::last_of(std::uint32_t id, std::uint32_t warp,
                                             Mask lanes) const {
  if (id >= barriers_.size()) return nullptr;
  const auto& last = barriers_[id].last;
  const auto found = std::ranges::find_if(last, [&](const BarrierArrival& each) {
    return each.warp == warp && (each.who.mask & lanes) != 0;
  });
  return found == last.end() ? nullptr : &*found;
}

void BlockBarriers::left(std::uint32_t warp, Mask lanes) {
  for (const Named& each : barriers_)
    for (const BarrierArrival& last : each.mixed) {
      if (last.warp != warp || !(last.who.mask & lanes)) continue;
      Left& left = left_.emplace_back(Left{last, {}});
      std::ranges::copy_if(each.mixed, std::back_inserter(left.met), [&](const auto& other) {
        return other.who.instruction != last.who.instruction;
      });
    }
}

// Threads go through a barrier because others exited that were at it in an earlier phase, where
// these were at another one: each of the two groups lacks a barrier of the other.
void BlockBarriers::find_passed(const BarrierPhase& phase, Breaches& out) const {
  for (const BarrierArrival& each : phase.arrivals)
    for (const Left& left : left_) {
      if (left.last.who.instruction != each.who.instruction) continue;
      for (const BarrierArrival& met : left.met)
        if (met.warp == each.warp && met.who.mask & each.who.mask)
          return out.push_back({What::others_passed, each.who, {met, left.last}, 0, 0, 0, 0});
    }
}

void BlockBarriers::exited(std::uint32_t warp, WarpOrder& order) {
  for (Named& each : barriers_)
    if (each.current.arrived != 0) order.release(warp, each.passed);
}

void ClusterBarrier::note(const Barrier& event, std::uint32_t warp, WarpOrder& order,
                          BlockBarriers::Breaches& out) {
  if (arrived_.size() <= warp) arrived_.resize(warp + 1);
  Arrived& arrived = arrived_[warp];
  switch (event.step) {
    case Barrier::Step::arrive:
      if (arrived.lanes & event.who.mask)
        out.push_back({What::cluster_arrived_twice, event.who, {{arrived.who}}, 0, 0, 0, 0});
      arrived.lanes |= event.who.mask;
      arrived.who = event.who;
      order.step(warp);
      return order.release(warp, passed_);
    case Barrier::Step::wait_alone:
      return out.push_back({What::cluster_wait_alone, event.who, {}, 0, 0, 0, 0});
    case Barrier::Step::wait:
      arrived.lanes &= ~event.who.mask;
      return order.acquire(warp, completed_);
    case Barrier::Step::complete:  // a fast thread may arrive in the next phase before others wait
      completed_ = passed_;
      return;
    default:
      return;
  }
}

}  // namespace inflight::check
