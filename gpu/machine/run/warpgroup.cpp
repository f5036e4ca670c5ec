// Warpgroups of a block.
#include "gpu/machine/run/warpgroup.hpp"

namespace inflight::machine {
namespace {

// Tells apart the warpgroups of a launch.
std::uint64_t number(const Block& block, std::uint32_t first_warp) {
  return block.linear * 64 + first_warp;
}

}  // namespace

Warpgroup::Warpgroup(Block& of, std::uint32_t first)
    : model(of.grid->options->timing, number(of, first)), block(of), first_warp(first) {}

void Warpgroup::wake() {
  for (std::uint32_t i = 0; i < async::warps_of_group; ++i)
    block.warps[first_warp + i]->wake(Wait::warpgroup, Warp::any_detail);
}

Warpgroup* warpgroup_of(Warp& w) {
  Block& block = *w.block;
  const std::uint32_t index = w.index / async::warps_of_group;
  const std::uint32_t first = index * async::warps_of_group;
  if (first + async::warps_of_group > block.warps.size()) return nullptr;
  if (block.warpgroups.size() <= index) block.warpgroups.resize(index + 1);
  auto& group = block.warpgroups[index];
  if (!group) group = std::make_unique<Warpgroup>(block, first);
  return group.get();
}

bool move_in_flight(Warp& w, const async::Multiplies::Move& move) {
  const auto& groups = w.block->warpgroups;
  const std::uint32_t index = w.index / async::warps_of_group;
  return index < groups.size() && groups[index] &&
         groups[index]->model.move(rank_in_group(w), move);
}

void start_warpgroups(Block& block) {
  for (auto& group : block.warpgroups)
    if (group) group->model.reset(number(block, group->first_warp)), group->held = {};
}

void advance_warpgroups(Block& block) {
  for (auto& group : block.warpgroups)
    if (group) group->model.advance();
}

}  // namespace inflight::machine
