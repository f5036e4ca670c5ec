// Teams of copies, and the mbarriers that their arrivals move.
#include "gpu/machine/run/thread_copies.hpp"

#include "gpu/machine/run/advice.hpp"
#include "gpu/machine/run/cluster_copies.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/warpgroup.hpp"

namespace inflight::machine {
namespace {

// What listens to a warp's copies, if anything does.
async::CopyObserver* observer(Warp& w) {
  Block& block = *w.block;
  if (!block.grid->observation) return nullptr;
  auto& observers = block.copy_observers;
  if (observers.size() < block.warps.size()) observers.resize(block.warps.size());
  if (!observers[w.index]) observers[w.index] = block.grid->observation->watch(w);
  return observers[w.index].get();
}

// Tells apart the warps of a launch.
std::uint64_t number(const Warp& w) { return w.block->linear * 64 + w.index; }

template <class F>
void each_team(Block& block, F f) {
  for (std::size_t i = 0; i < block.teams.size(); ++i)
    if (block.teams[i]) f(*block.teams[i]);
}

}  // namespace

void notify(Block& block, const async::Progress& progress) {
  if (progress.phase_completed) wake_mbarrier(block, Warp::any_detail);
  if (progress.violation == async::Violation::none) [[likely]]
    return;
  advise(*block.grid, progress.violation, progress.tag);
  for (const async::Breach& other : progress.others) advise(*block.grid, other.rule, other.tag);
}

void watch_copies(Cluster& cluster, std::uint64_t low, std::uint64_t high) {
  for (auto& block : cluster.blocks)
    each_team(*block, [&](async::Team& team) { team.watch(low, high); });
  if (cluster.copies) cluster.copies->model.watch(low, high);
}

async::Team& team_of(Warp& w) {
  Block& block = *w.block;
  if (block.teams.size() < block.warps.size()) block.teams.resize(block.warps.size());
  auto& team = block.teams[w.index];
  if (!team)
    team = std::make_unique<async::Team>(block.grid->options->timing, number(w), observer(w));
  return *team;
}

// Whose phase is complete has its answer, as on a GPU where all waiters see a completion at once:
// by the time a later one runs, an earlier one may have gone on to the next phase, or to
// initialising the mbarrier anew.
void wake_mbarrier(Block& block, std::uint64_t offset) {
  for (auto& w : block.warps) {
    for (const Split& s : w->parked) {
      if (s.wait != Wait::mbarrier || (offset != Warp::any_detail && s.detail != offset)) continue;
      const auto* word = reinterpret_cast<const async::mbarrier::Word*>(block.shared + s.detail);
      if (async::mbarrier::decode(*word).parity != s.parity) w->granted |= s.mask;
    }
    w->wake(Wait::mbarrier, offset);
  }
}

void settle_mbarrier(Block& block, const async::mbarrier::Word* word) {
  const auto phase = async::mbarrier::decode(*word).parity;
  each_team(block, [&](async::Team& team) {
    if (!team.arrivals_pending() || async::mbarrier::decode(*word).parity != phase) return;
    notify(block, team.flush_for(word));
  });
  if (block.cluster->copies && async::mbarrier::decode(*word).parity == phase)
    block.cluster->copies->model.flush_for(word);
}

const Op* run_copy_wait(Warp& w, const Op* op) {
  const Block& block = *w.block;
  const bool in_flight =
      w.index < block.teams.size() && block.teams[w.index] && !block.teams[w.index]->idle();
  return in_flight && block.turns.phases_in_step() != 0 ? w.yield(op + 1) : op + 1;
}

void flush_team(Warp& w, std::uint32_t mask) {
  Block& block = *w.block;
  if (w.index < block.teams.size() && block.teams[w.index])
    notify(block, block.teams[w.index]->flush(mask));
}

bool flush_block(Block& block) {
  bool pending = false;
  each_team(block, [&](async::Team& team) {
    if (team.idle() || block.grid->stop.load(std::memory_order_relaxed)) return;
    pending = true;
    notify(block, team.flush_all());
  });
  return pending;
}

void start_teams(Block& block) {
  for (std::size_t i = 0; i < block.teams.size(); ++i)
    if (block.teams[i])
      block.teams[i]->reset(block.grid->options->timing, number(*block.warps[i]),
                            observer(*block.warps[i]));
}

void advance_block(Block& block) {
  if (block.grid->options->timing.policy != async::Timing::Policy::shuffled) return;
  each_team(block, [&](async::Team& team) { notify(block, team.advance()); });
  advance_warpgroups(block);
  if (block.cluster->copies) block.cluster->copies->model.advance();
}

BadLanes resolve_mbarriers(Warp& w, const Op* op, bool own_only, LaneMbarriers& out) {
  const ptx::Space space = op->what->memory.front().space;
  const std::uint64_t window = w.block->grid->memory->windows().shared;
  LanePlaces places;
  lane_addresses(w, op, space, out.addresses);
  const BadLanes bad =
      resolve_lanes(w, op, w.mask, space, out.addresses, async::mbarrier::size, true, places);
  if (bad.lanes) return bad;
  if (const std::uint32_t elsewhere = w.mask & ~places.shared)
    return {elsewhere, FaultKind::invalid_address_space};
  std::uint32_t others = 0;
  for (std::uint32_t m = w.mask; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const SharedPlace place = shared_place(
        *w.block, space == ptx::Space::generic ? out.addresses[l] - window : out.addresses[l]);
    out.blocks[l] = place.block;
    out.offsets[l] = place.offset;
    if (place.block != w.block) others |= 1u << l;
  }
  if (own_only && others) return {others, FaultKind::illegal_instruction};
  return {};
}

}  // namespace inflight::machine
