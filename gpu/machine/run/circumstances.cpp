// Places of ops, indices of threads, and groups of threads with the same wait.
#include "gpu/machine/run/circumstances.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "gpu/async/mbarrier.hpp"
#include "gpu/machine/run/tensor_memory.hpp"
#include "gpu/machine/run/warpgroup.hpp"

namespace inflight::machine {
namespace {

Place place_of(const Code& code, const Op* op) {
  Place place{code.module, code.function, nullptr};
  if (op && op->instruction < code.function->body.size())
    place.instruction = &code.function->body[op->instruction];
  return place;
}

Dim3 thread_index(const Warp& w, int lane) {
  const Dim3& shape = w.block->grid->launch->block;
  const std::uint32_t linear = w.first_thread() + static_cast<std::uint32_t>(lane);
  return {linear % shape.x, linear / shape.x % shape.y, linear / shape.x / shape.y};
}

Awaited barrier_wait(const Block& block, std::uint64_t id) {
  const NamedBarrier& b = block.barriers[id % block.barriers.size()];
  return BarrierWait{id, b.arrived, b.expected ? b.expected : block.alive_threads};
}

Awaited mbarrier_wait(const Block& block, std::uint64_t offset) {
  MbarrierWait wait{offset, offset + async::mbarrier::size <= block.shared_end, 0};
  if (wait.inside) std::memcpy(&wait.word, block.shared + offset, sizeof wait.word);
  return wait;
}

Awaited collective_wait(const Warp& w, const Split& s) {
  const auto members = static_cast<std::uint32_t>(s.detail);
  return CollectiveWait{members, members & w.alive & ~s.mask};
}

Awaited awaited(const Warp& w, const Split& s) {
  const Block& block = *w.block;
  switch (s.wait) {
    case Wait::barrier:
      return barrier_wait(block, s.detail);
    case Wait::mbarrier:
      return mbarrier_wait(block, s.detail);
    case Wait::collective:
      return collective_wait(w, s);
    case Wait::cluster:
      return ClusterWait{block.cluster->arrived(), block.cluster->alive()};
    case Wait::warpgroup:
      if (RegistersAwaited::is_in(s.detail)) {
        const auto [more, left] = RegistersAwaited::of(s.detail);
        return RegistersWait{more, left};
      }
      return WarpgroupWait{w.index / 4 * 4, static_cast<std::uint32_t>(s.detail)};
    case Wait::columns:
      return ColumnsWait{static_cast<std::uint32_t>(s.detail), block.tensor_memory->free()};
    case Wait::sleep:
      return SleepWait{};
    case Wait::grids:
      return GridsWait{};
    case Wait::endless:
      return EndlessLoop{s.detail == 0};
    case Wait::nothing:
      break;
  }
  return std::monostate{};
}

}  // namespace

Fault fault_of(const Warp& w, const Op* op, FaultKind kind, std::uint32_t lane_mask,
               std::string what) {
  const Launch& launch = *w.block->grid->launch;
  Fault fault;
  fault.kind = kind;
  fault.kernel = launch.kernel->name;
  fault.what = std::move(what);
  fault.at = place_of(*w.frame->code, op);
  for (const Frame* f = w.frame; f->parent && f->call; f = f->parent)
    if (fault.depth++ < most_callers || !f->parent->parent)
      fault.callers.push_back(place_of(*f->parent->code, f->call));
  fault.thread = thread_index(w, lane_mask ? std::countr_zero(lane_mask) : 0);
  fault.block = w.block->index;
  fault.others = static_cast<unsigned>(std::max(0, std::popcount(lane_mask) - 1));
  fault.grid_shape = launch.grid;
  fault.block_shape = launch.block;
  return fault;
}

BlockWaits waits_of(const Block& block) {
  BlockWaits waits{block.index, block.alive_threads, block.threads, {}};
  // In the kernel's own frame, the op alone identifies the place.
  using Key = std::tuple<const Op*, const Frame*, Awaited, std::uint32_t>;
  std::map<Key, std::size_t> groups;
  for (const auto& w : block.warps)
    for (const Split& s : w->parked) {
      const Key key{s.pc, s.frame->parent ? s.frame : nullptr, awaited(*w, s), s.mask & w->alive};
      const auto [it, fresh] = groups.try_emplace(key, waits.groups.size());
      if (fresh)
        waits.groups.push_back(
            {0, s.mask, {}, std::get<Awaited>(key), place_of(*s.frame->code, s.pc)});
      WaitingThreads& group = waits.groups[it->second];
      group.count += static_cast<std::uint32_t>(std::popcount(s.mask));
      group.warps.push_back(w->index);
    }
  return waits;
}

Deadlock deadlock_of(const Cluster& cluster) {
  Deadlock deadlock;
  deadlock.kernel = cluster.grid->launch->kernel->name;
  deadlock.cluster = cluster.blocks.size() != 1;
  deadlock.first = cluster.blocks.front()->index;
  for (const auto& block : cluster.blocks)
    if (!block->ended) deadlock.blocks.push_back(waits_of(*block));
  return deadlock;
}

}  // namespace inflight::machine
