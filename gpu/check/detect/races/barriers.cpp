// Barriers, warp-level collectives and griddepcontrol.
#include <algorithm>
#include <bit>

#include "gpu/check/detect/races/races.hpp"

namespace inflight::check::races {
namespace {

// Threads that have exited count as arrived at a cluster's barrier. A block's barrier also
// completes without them, but does not order what they did: only threads that arrive publish.
void add_exits(Block& block, order::BarrierState& state) {
  for (const Block::Exit& exit : block.exits) block.order.arrive(state, exit.warp, exit.mask);
  block.exits.clear();
}

}  // namespace

// griddepcontrol.
void Races::grid_barrier(const Barrier& event, Block& block) {
  const Running& own = running(event.who.launch);
  const std::uint32_t warp = event.who.warp;
  const order::Knowledge waited = own.facts.dependent ? host_.waited(own.number) : own.start;
  if (event.step == Barrier::Step::wait) {
    if (own.facts.dependent) host_.has_waited(own.facts.stream, own.number);
    return block.order.learn(warp, event.who.mask, waited);
  }
  const auto lane = static_cast<unsigned>(std::countr_zero(event.who.mask));
  const bool has_waited = block.order.issue(warp, lane).order.includes(waited.order);
  host_.launch_dependents(own.facts.stream, own.number, has_waited);
}

void Races::barrier(const Barrier& event) {
  using Step = Barrier::Step;
  Block* const block = block_of(event.who);
  if (!block) return;
  const std::uint32_t warp = event.who.warp;
  if (event.kind == BarrierKind::grid) return grid_barrier(event, *block);
  if (event.kind == BarrierKind::cluster) {
    order::BarrierState& state = block->cluster->barrier;
    if (event.step == Step::arrive)
      return block->order.arrive(state, warp, event.who.mask, order_of(event.order));
    if (event.step == Step::wait)
      return block->order.wait(state, warp, event.who.mask, order_of(event.order));
    for (Block* each : block->cluster->blocks)
      if (each) add_exits(*each, state);
    return state.complete();
  }
  order::BarrierState& state = block->barrier(event.id);
  if (event.step == Step::complete) {
    candidates_.barrier(block->order.row());
    for (Block::Warp& warp : block->warps) warp.last_load = {};
    block->barrier_without_exited |= block->some_ended && event.expected == 0;
    return state.complete();
  }
  if (event.step == Step::arrive) return block->order.arrive(state, warp, event.who.mask);
  block->order.arrive_and_wait(state, warp, event.who.mask);
}

void Races::collective(const Collective& event) {
  using Kind = Collective::Kind;
  Block* const block = block_of(event.who);
  if (!block || event.kind == Kind::elect || event.kind == Kind::activemask) return;
  // Collectives that exchange values also count as ordering memory: cooperative groups rely on it.
  std::uint32_t& last = block->warps[event.who.warp].last_sync;
  const bool news = block->order.groups(event.who.warp).size() > 1 || last != block->accesses;
  if (event.kind == Kind::sync || news) block->order.warp_sync(event.who.warp, event.who.mask);
  if (event.who.mask == block->order.live(event.who.warp)) last = block->accesses;
}

}  // namespace inflight::check::races
