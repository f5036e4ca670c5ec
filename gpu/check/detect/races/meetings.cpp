// Barriers, and bar.warp.sync.
#include "gpu/check/detect/races/races.hpp"

namespace inflight::check::races {
namespace {

constexpr std::uint32_t of_cluster = 16;  // beside the 16 barriers of a block

// Threads that have exited count as arrived, where all that live are expected.
void add_exits(Block& block, order::Meeting& meeting, std::uint32_t id) {
  for (Block::Exit& exit : block.exits) {
    if (exit.reported >> id & 1) continue;
    exit.reported |= 1u << id;
    block.order.arrive(meeting, exit.warp, exit.mask);
  }
}

}  // namespace

void Races::barrier(const Barrier& event) {
  using Step = Barrier::Step;
  Block* const block = block_of(event.who);
  if (!block) return;
  const std::uint32_t warp = event.who.warp;
  if (event.kind == BarrierKind::grid)
    return block->order.learn(warp, event.who.mask, running(event.who.launch).waited);
  if (event.kind == BarrierKind::cluster) {
    order::Meeting& meeting = block->cluster->barrier;
    if (event.step == Step::arrive)
      return block->order.arrive(meeting, warp, event.who.mask, order_of(event.order));
    if (event.step == Step::wait)
      return block->order.wait(meeting, warp, event.who.mask, order_of(event.order));
    for (Block* each : block->cluster->blocks)
      if (each) add_exits(*each, meeting, of_cluster);
    return meeting.complete();
  }
  order::Meeting& meeting = block->barrier(event.id);
  if (event.step == Step::complete) {
    suspicions_.met(block->order.row());
    if (event.expected == 0) add_exits(*block, meeting, event.id);
    return meeting.complete();
  }
  if (event.step == Step::arrive) return block->order.arrive(meeting, warp, event.who.mask);
  block->order.arrive_and_wait(meeting, warp, event.who.mask);
}

void Races::collective(const Collective& event) {
  using Kind = Collective::Kind;
  Block* const block = block_of(event.who);
  if (!block || event.kind == Kind::elect || event.kind == Kind::activemask) return;
  // What lanes exchange values through is taken to order their memory, too: cooperative groups rely
  // on it.
  std::uint32_t& last = block->met_at[event.who.warp];
  const bool news = block->order.groups(event.who.warp).size() > 1 || last != block->accesses;
  if (event.kind == Kind::sync || news) block->order.warp_sync(event.who.warp, event.who.mask);
  if (event.who.mask == block->order.live(event.who.warp)) last = block->accesses;
}

}  // namespace inflight::check::races
