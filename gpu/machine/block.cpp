// A block's life: its warps take turns until all threads have exited.
#include "gpu/machine/block.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/machine/async_glue.hpp"
#include "gpu/machine/bulk_glue.hpp"
#include "gpu/machine/observe.hpp"
#include "gpu/machine/report.hpp"
#include "gpu/machine/values.hpp"

namespace inflight::machine {
namespace {

constexpr std::int32_t slice_ops = 16384;
constexpr std::uint32_t longest_in_step = 128;  // rounds
constexpr std::uint32_t shared_alignment = 1024;

std::uint32_t lanes_below(std::uint32_t count) {
  return count >= 32 ? all_lanes : (1u << count) - 1;
}

}  // namespace

void Block::start(const Dim3& at) {
  const Launch& launch = *grid->launch;
  index = at;
  linear = (std::uint64_t{at.z} * launch.grid.y + at.y) * launch.grid.x + at.x;
  threads = alive_threads = static_cast<std::uint32_t>(launch.block.count());
  barriers.fill({});
  ended = false;
  in_step = grid->entry->makes_mbarriers && threads > lanes ? longest_in_step : 0;
  if (shared_end != grid->shared_end || !shared) {
    shared_end = grid->shared_end;
    reserved_end = grid->reserved_end;
    shared_storage.resize(shared_end + shared_alignment);
    const auto at = reinterpret_cast<std::uintptr_t>(shared_storage.data());
    shared = shared_storage.data() + (shared_alignment - at % shared_alignment) % shared_alignment;
  }
  std::memset(shared + reserved_shared, 0, shared_end - reserved_shared);
  if (reserved_end) std::memset(shared, 0, reserved_end);

  const std::uint32_t count = (threads + lanes - 1) / lanes;
  const bool fresh = warps.empty();
  for (std::uint32_t i = 0; fresh && i < count; ++i) {
    auto w = std::make_unique<Warp>();
    w->block = this;
    w->index = i;
    w->root = std::make_unique<Frame>();
    w->root->code = grid->entry;
    w->root->registers.resize(grid->entry->frame_bytes);
    w->ensure_local(grid->entry->local_bytes);
    fill_warp_values(*w);
    warps.push_back(std::move(w));
  }
  fill_block_values(*this);
  start_teams(*this);
  for (auto& w : warps) {
    w->base[2] = reinterpret_cast<char*>(values.data());
    w->base[3] = reinterpret_cast<char*>(w->values.data());
    w->alive = lanes_below(threads - w->first_thread());
    w->slice = 0;
    w->granted = 0;
    w->cluster_arrived = w->cluster_phase = 0;
    w->root->begin(w->alive);
    w->parked.assign(1,
                     Split{grid->entry->ops.data(), w->root.get(), w->alive, Wait::nothing, 0, 0});
    w->frame = nullptr;
  }
  if (grid->observation) grid->observation->block_begin(*this);
}

Block::State Block::run(Worker& worker, std::uint32_t rounds) {
  progressed = false;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    advance_block(*this);
    const bool step = in_step != 0;
    bool live = false, ran = false, spinning = true;
    for (auto& w : warps) {
      if (w->done()) continue;
      live = true;
      const bool one_waits = w->parked.size() == 1 && w->parked[0].wait != Wait::nothing;
      if (one_waits || !w->runnable()) continue;
      ran = true;
      w->worker = &worker;
      step ? w->run_one() : w->run(slice_ops);
      if (grid->stop.load(std::memory_order_relaxed)) return State::done;
      spinning &= w->polled;
      progressed |= w->progressed;
      w->progressed = false;
    }
    if (!live) {
      flush_block(*this);
      if (cluster->copies) cluster->copies->model.flush_block(rank);
      ended = true;
      if (grid->observation) grid->observation->block_end(*this);
      return State::done;
    }
    if (step && in_step) --in_step;
    if (ran && spinning) return State::spinning;
    if (!ran && !flush_block(*this)) return State::stuck;
  }
  return State::spinning;
}

bool Block::can_run() const {
  return std::any_of(warps.begin(), warps.end(), [](const auto& w) { return w->runnable(); });
}

void Block::lanes_exited(Warp& warp, std::uint32_t mask) {
  if (grid->observation) grid->observation->exited(warp, mask);
  flush_team(warp, mask);
  cluster->threads_exited(warp, mask);
  threads_exited(static_cast<std::uint32_t>(std::popcount(mask)));
}

}  // namespace inflight::machine
