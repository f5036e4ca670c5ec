// Multiplications of warpgroups (wgmma): the shared memory that they read, and their waits.
#include <algorithm>
#include <bit>

#include "gpu/check/detect/races/races.hpp"

namespace inflight::check::races {
namespace {

constexpr std::uint32_t warps_of_group = 4;
// One actor per warp performs all of its multiplications, which complete in the order of issue.
constexpr unsigned lane = 0;

void remember(Multiplies& issued, const Multiplies::Last& latest) {
  const auto same = [&](const Multiplies::Last& each) { return each.place == latest.place; };
  const auto found = std::find_if(issued.last.begin(), issued.last.end(), same);
  if (found == issued.last.end())
    issued.last.push_back(latest);
  else
    *found = latest;
}

order::Row row_of(const Block& block, std::uint32_t warp) {
  return order::warp_row(block.order.row(), order::Part::multiply, warp);
}

}  // namespace

void Races::multiply_issued(const MultiplyIssued& event) {
  Block* const block = block_of(event.who);
  if (!block) return;
  const std::uint32_t warp = event.who.warp;
  const order::Epoch epoch = block->order.tick();
  auto& issued = block->multiplies[warp];
  if (issued.epochs.empty()) issued.first = event.id;
  issued.epochs.push_back(epoch);
  const auto issuer = static_cast<unsigned>(std::countr_zero(event.who.mask));
  const PlaceId place = session_.places.of(event.who);
  remember(issued, {place, event.who, epoch});
  event.for_each_run([&](const MultiplyRun& run) {
    block->shared.copy(block->order, warp, issuer, {row_of(*block, warp), lane, epoch},
                       {run.address, run.bytes, place, false, true, false}, block->conflicts);
  });
  report(event.who, *block, Space::shared);
}

// A wgmma is one operation of four warps, so a wait covers the parts of all four.
void Races::multiply_waited(const MultiplyWaited& event) {
  Block* const block = block_of(event.who);
  if (!block) return;
  const std::uint32_t first = event.who.warp / warps_of_group * warps_of_group;
  for (std::uint32_t warp = first; warp < first + warps_of_group; ++warp) {
    const auto found = block->multiplies.find(warp);
    if (found == block->multiplies.end()) continue;
    const Multiplies& issued = found->second;
    const std::uint64_t complete = event.complete - std::min(event.complete, issued.first);
    if (complete == 0) continue;
    const auto last = std::min<std::uint64_t>(complete, issued.epochs.size()) - 1;
    block->order.know(event.who.warp, event.who.mask, row_of(*block, warp), 1u << lane,
                      issued.epochs[last]);
  }
}

// Called at the end of the block. `known` is what its threads know together.
void Races::check_multiplies(const Block& block, const order::Clock& known) {
  for (const auto& [warp, issued] : block.multiplies)
    for (const Multiplies::Last& each : issued.last)
      if (!known.covers(row_of(block, warp), order::Mask{1} << lane, each.epoch))
        reporter_.ends_with(each);
}

}  // namespace inflight::check::races
