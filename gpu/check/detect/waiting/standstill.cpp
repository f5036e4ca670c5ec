// Finds the wait that is the root cause of the others.
#include "gpu/check/detect/waiting/standstill.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace inflight::check {
namespace {

using Lack = Standstill::Lack;
using WaitingGroup = Standstill::Group;

bool is_endless(const WaitingGroup& group) { return group.first.wait.what == Wait::For::nothing; }
bool waits_for_registers(const WaitingGroup& group) {
  return group.first.wait.what == Wait::For::warpgroup && group.first.wait.members == 0;
}
bool is_more_certain(const WaitingGroup& group) {  // than that a barrier was left behind
  return group.mbarrier && group.lack <= Lack::arrival;
}
bool waits_at_barrier(const WaitingGroup& group) {  // or in a collective
  return !group.first.polls && group.first.wait.what != Wait::For::mbarrier &&
         group.first.wait.what != Wait::For::sleep;
}

Lack lack_of(const MbarrierHistory& m, std::uint32_t warp) {
  const MbarrierPhase& phase = m.current();
  const std::int64_t awaited = m.seen(warp) + 1, current = static_cast<std::int64_t>(phase.number);
  if (m.pending() == 0 && m.tx_count() > 0 && !m.copies_in_flight()) return Lack::bytes;
  if (phase.arrivals.empty() && (!phase.expects.empty() || !phase.completed.empty()))
    return Lack::arrival;
  if (m.known() && awaited + 2 == current) return Lack::overrun;
  if (!phase.arrivals.empty()) return Lack::arrivals;
  return awaited < current ? Lack::passed : Lack::everything;
}

Standstill::Cause cause_of(Lack lack) {
  using Cause = Standstill::Cause;
  switch (lack) {
    case Lack::bytes:
      return Cause::lacking_bytes;
    case Lack::arrival:
      return Cause::lacking_arrival;
    case Lack::overrun:
      return Cause::overrun;
    case Lack::arrivals:
      return Cause::lacking_arrivals;
    case Lack::passed:
      return Cause::wrong_phase;
    default:
      return Cause::circle;
  }
}

WaitingGroup group_of(const Stuck::Threads& threads, const ClusterState& state) {
  const Wait& wait = threads.wait;
  WaitingGroup group{threads};
  if (wait.what != Wait::For::mbarrier || threads.polls) return group;
  const auto* const m = state.find(cluster_place(*state.kernel, wait.who.block).rank, wait.id);
  if (!m || !m->live()) return group;
  group.mbarrier = m;
  group.lack = lack_of(*m, state.warp(wait.who));
  return group;
}

std::vector<WaitingGroup> groups_of(const Stuck& stuck, const ClusterState& state) {
  std::vector<WaitingGroup> groups;
  std::map<std::tuple<std::uint64_t, std::uint32_t, bool, Wait::For, std::uint32_t, Mask>,
           std::size_t>
      index;
  for (const Stuck::Threads& each : stuck.threads) {
    const Wait& w = each.wait;
    const auto [at, fresh] = index.try_emplace(
        {w.who.block, w.who.instruction, each.polls, w.what, w.id, w.members}, groups.size());
    if (fresh) groups.push_back(group_of(each, state));
    groups[at->second].threads += static_cast<std::uint32_t>(std::popcount(w.who.mask));
  }
  return groups;
}

}  // namespace

Standstill::Standstill(const Stuck& stuck, const ClusterState& state)
    : state_(state),
      groups_(groups_of(stuck, state)),
      left_(find_left_behind(stuck.threads, [&](std::uint64_t) { return &state; })) {
  if (empty()) return;
  root_ = find_root();
  cause_ = find_cause();
  doubt_ = find_doubt();
}

// Does the mbarrier lack bytes from a warp that brought some in the phase before, none in this one,
// and now waits for another mbarrier that lacks arrivals? Then that wait is the cause.
bool Standstill::waits_for_a_waiting_copier(const Group& group) const {
  if (!group.mbarrier || group.lack != Lack::bytes) return false;
  const auto by = [](const std::vector<Contribution>& copies, std::uint32_t warp) {
    return std::any_of(copies.begin(), copies.end(),
                       [&](const Contribution& each) { return each.warp == warp; });
  };
  return std::any_of(groups_.begin(), groups_.end(), [&](const Group& other) {
    if (!other.mbarrier || other.mbarrier == group.mbarrier || other.lack == Lack::bytes)
      return false;
    const std::uint32_t warp = state_.warp(other.first.wait.who);
    return by(group.mbarrier->previous().completed, warp) &&
           !by(group.mbarrier->current().completed, warp);
  });
}

std::size_t Standstill::find_root() const {
  const auto index = [&](auto found) {
    return static_cast<std::size_t>(std::distance(groups_.begin(), found));
  };
  for (const auto comes_first : {is_endless, waits_for_registers}) {
    const auto found = std::find_if(groups_.begin(), groups_.end(), comes_first);
    if (found != groups_.end()) return index(found);
  }
  if (left_ && std::none_of(groups_.begin(), groups_.end(), is_more_certain))
    return index(std::find_if(groups_.begin(), groups_.end(), [&](const Group& each) {
      const Who &who = each.first.wait.who, &at = left_->waits.who;
      return who.block == at.block && who.instruction == at.instruction;
    }));
  const auto rank = [&](const Group& g) {
    const int doubts = waits_for_a_waiting_copier(g)               ? 2
                       : !g.mbarrier || g.lack == Lack::everything ? 1
                                                                   : 0;
    return std::pair(doubts, g.lack);
  };
  return index(std::min_element(groups_.begin(), groups_.end(),
                                [&](const Group& a, const Group& b) { return rank(a) < rank(b); }));
}

Standstill::Cause Standstill::find_cause() const {
  if (is_endless(root())) return Cause::endless_loop;
  if (waits_for_registers(root())) return Cause::registers;
  if (root().mbarrier && root().lack != Lack::everything) return cause_of(root().lack);
  if (left_ && std::none_of(groups_.begin(), groups_.end(), is_more_certain))
    return Cause::left_behind;
  if (std::all_of(groups_.begin(), groups_.end(), waits_at_barrier))
    return groups_.size() == 1 && expected() != 0 ? Cause::barrier_count
                                                  : Cause::different_barriers;
  const bool copier =
      root().mbarrier && std::any_of(groups_.begin(), groups_.end(), [&](const Group& each) {
        return waits_for_a_waiting_copier(each);
      });
  return copier ? Cause::waiting_copier : Cause::circle;
}

// A thread that passed a fresh mbarrier at once and now waits for its first phase may be right: a
// producer does so. It is doubtful if another mbarrier's phase was completed without it.
std::optional<Standstill::Doubt> Standstill::find_doubt() const {
  if (!root().mbarrier || root().lack < Lack::passed) return std::nullopt;
  for (const auto& [at, history] : state_.mbarriers) {
    if (!history.live()) continue;
    const bool fresh = root().lack == Lack::passed && root().mbarrier != &history &&
                       std::any_of(groups_.begin(), groups_.end(),
                                   [&](const Group& each) { return each.mbarrier == &history; });
    if (const auto wait = history.doubtful_wait(fresh))
      return Doubt{*wait, &history, {wait->who.block, at.second}};
  }
  if (root().lack == Lack::everything)
    for (const auto& [at, history] : state_.mbarriers)
      if (const auto& wait = history.overrun(); history.live() && wait)
        return Doubt{*wait, &history, {wait->who.block, at.second}};
  return std::nullopt;
}

std::uint32_t Standstill::living(std::uint64_t block) const {
  std::uint32_t count = 0;
  for (const Group& each : groups_)
    if (each.first.wait.who.block == block) count += each.threads;
  return count;
}

std::uint32_t Standstill::exited(std::uint64_t block) const {
  return state_.block_threads - std::min(state_.block_threads, living(block));
}

const BarrierPhase& Standstill::barrier_of(const Wait& wait) const {
  return state_.barriers[cluster_place(*state_.kernel, wait.who.block).rank].phase(wait.id);
}

std::uint32_t Standstill::expected() const {
  const Wait& wait = root().first.wait;
  const bool named = wait.what == Wait::For::barrier && wait.kind == BarrierKind::cta;
  return named ? barrier_of(wait).expected : 0;
}

}  // namespace inflight::check
