// The turns of a cluster's blocks, its barrier and its shared addresses.
#include "gpu/machine/run/cluster.hpp"

#include <algorithm>

#include "gpu/machine/run/circumstances.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/failing_waits.hpp"
#include "gpu/machine/run/in_flight.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/warpgroup.hpp"
#include "gpu/machine/run/worker.hpp"

namespace inflight::machine {
namespace {

// A cluster with only failed waits, in this many rounds and this many of them, is a deadlock. A
// program that gives up after many tries or after a time has done so by then: they take 100 to 200
// ms, and its clock has advanced by hours.
constexpr std::uint32_t max_idle_rounds = 1024;
constexpr std::uint64_t max_idle_waits = 1 << 20;
constexpr std::uint32_t turn = 64;  // rounds of a block before the cluster's next one

bool waits_at_mbarrier(const Block& block) {
  return std::any_of(block.warps.begin(), block.warps.end(), [](const auto& w) {
    return std::any_of(w->parked.begin(), w->parked.end(),
                       [](const Split& s) { return s.wait == Wait::mbarrier; });
  });
}

}  // namespace

Cluster::Cluster(Grid& g) : grid(&g) {
  const auto count = static_cast<std::uint32_t>(g.launch->cluster.count());
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    auto block = std::make_unique<Block>();
    block->grid = grid;
    block->cluster = this;
    block->rank = rank;
    block->window = rank << rank_shift;
    if (g.observation) block->counts = g.observation->new_counts();
    blocks.push_back(std::move(block));
  }
}

Cluster::~Cluster() = default;

void Cluster::move_to(Grid& g) {
  grid = &g;
  for (auto& block : blocks) block->grid = grid, block->new_in_grid = true;
}

Dim3 first_block(const Launch& launch, std::uint64_t linear) {
  const Dim3 &shape = launch.cluster, &all = launch.grid;
  const std::uint64_t across = all.x / shape.x, deep = all.y / shape.y;
  const auto at = [](std::uint64_t cluster, std::uint32_t size) {
    return static_cast<std::uint32_t>(cluster) * size;
  };
  return {at(linear % across, shape.x), at(linear / across % deep, shape.y),
          at(linear / across / deep, shape.z)};
}

void Cluster::start(std::uint64_t linear) {
  const Dim3& shape = grid->launch->cluster;
  const Dim3 first = first_block(*grid->launch, linear);
  arrived_ = alive_ = 0;
  phase_ = 0;
  idle_rounds_ = 0;
  idle = {};
  ended_before_.assign(blocks.size(), false);
  for (auto& block : blocks) {
    const std::uint32_t r = block->rank;
    block->start(
        {first.x + r % shape.x, first.y + r / shape.x % shape.y, first.z + r / shape.x / shape.y});
    if (in_flight) in_flight->ledger.start(r, block->linear);
    alive_ += block->threads;
  }
  if (grid->yet_to_begin != 0) grid->begun(blocks.size());
}

Cluster::State Cluster::run(Worker& worker, std::uint32_t rounds) {
  const std::uint32_t each = blocks.size() == 1 ? rounds : std::min(rounds, turn);
  follow_others();
  for (;;) {
    bool live = false, stuck = true;
    for (auto& block : blocks) {
      if (block->ended) continue;
      const Block::State state = block->run(worker, each);
      if (grid->stop.load(std::memory_order_relaxed)) return State::done;
      live |= state != Block::State::done;
      stuck &= state != Block::State::spinning;
      if (block->progressed) idle_rounds_ = 0;
    }
    release_ended_blocks();
    const std::uint64_t now = sync_clocks();
    if (!live || !stuck) {
      grid->reached(now);
      return live ? State::suspended : State::done;
    }
    // A block that ended may have been what another waited for.
    if (std::any_of(blocks.begin(), blocks.end(),
                    [](const auto& b) { return !b->ended && b->can_run(); }))
      continue;
    if (!unblock(worker)) {
      if (grid->observation) grid->observation->stuck(*this, check::Stuck::Why::nothing_moves);
      grid->fail(FaultKind::deadlock, to_text(deadlock_of(*this)));
      return State::done;
    }
  }
}

bool Cluster::held() const {
  return std::all_of(blocks.begin(), blocks.end(), [](const auto& block) {
    return block->ended || (block->held && !block->can_run());
  });
}

// Blocks take turns here but run at once on a chip, so a block that ended in this round may be a
// turn ahead of the others. They may access its shared memory until they have had one more turn.
void Cluster::release_ended_blocks() {
  if (blocks.size() == 1) return;
  for (auto& block : blocks) {
    block->left = block->ended && ended_before_[block->rank];
    ended_before_[block->rank] = block->ended;
  }
}

// A block that waits for what other clusters write is not earlier than they are.
void Cluster::follow_others() {
  for (auto& block : blocks)
    if (block->clock.waits_for_others())
      block->clock.reach(grid->latest.load(std::memory_order_relaxed));
}

// Sets all blocks' clocks to the latest one, because on a chip the blocks run at once. Returns it.
std::uint64_t Cluster::sync_clocks() {
  std::uint64_t latest = 0;
  for (const auto& block : blocks) latest = std::max(latest, block->clock.now());
  for (auto& block : blocks) block->clock.reach(latest);
  return latest;
}

// No warp can run, so lets waits give up that may. False: nothing can ever move.
bool Cluster::unblock(Worker& worker) {
  if (in_flight && in_flight->ledger.flush_all()) return true;
  bool waiting = false;
  for (auto& block : blocks) waiting |= !block->ended && waits_at_mbarrier(*block);
  if (idle_rounds_++ == 0) idle_waits_ = 0;
  if (!waiting || (idle_rounds_ > max_idle_rounds && idle_waits_ > max_idle_waits)) return false;
  for (auto& block : blocks)
    if (!block->ended) block->clock.jump();
  const FailedWaits failed = let_waits_fail(*this, worker);
  idle_waits_ += failed.tries;
  if (failed.progressed) idle_rounds_ = 0;
  return true;
}

void Cluster::arrive(Warp& w, const Op* op) {
  w.cluster_arrived |= w.mask;
  w.cluster_phase = (w.cluster_phase & ~w.mask) | (current() & w.mask);
  arrived_ += lane_count(w.mask);
  if (grid->observation) grid->observation->cluster_step(w, op, w.mask, phase_);
  try_complete({w, w.mask, op});
}

std::uint32_t Cluster::waiting(const Warp& w, std::uint32_t mask) const {
  return mask & w.cluster_arrived & ~(w.cluster_phase ^ current());
}

void Cluster::threads_exited(Warp& w, std::uint32_t mask) {
  arrived_ -= lane_count(waiting(w, mask));
  w.cluster_arrived &= ~mask;
  alive_ -= lane_count(mask);
  try_complete({w, mask, nullptr});
}

void Cluster::try_complete(const LastToArrive& last) {
  if (arrived_ == 0 || arrived_ < alive_) return;
  if (grid->observation) grid->observation->cluster_completed(*this, last);
  arrived_ = 0;
  ++phase_;
  for (auto& block : blocks)
    for (auto& w : block->warps) w->wake(Wait::cluster, Warp::any_detail);
}

SharedPlace shared_place(const Block& self, std::uint64_t address) {
  const auto offset = static_cast<std::uint32_t>(address) & offset_mask;
  const std::uint64_t rank = address >> rank_shift;
  const auto& blocks = self.cluster->blocks;
  return {rank < blocks.size() ? blocks[rank].get() : nullptr, offset};
}

FaultKind shared_fault(const Block& self, std::uint64_t address, std::uint64_t size,
                       bool own_only) {
  const SharedPlace place = shared_place(self, address);
  if (place.block == &self) return place.holds(size) ? FaultKind::none : FaultKind::illegal_address;
  if (self.cluster->blocks.size() == 1) return FaultKind::illegal_address;
  if (own_only) return FaultKind::illegal_instruction;
  if (!place.block || place.block->left) return FaultKind::launch_failure;
  return place.holds(size) ? FaultKind::none : FaultKind::illegal_address;
}

}  // namespace inflight::machine
