// The order of a kernel's change of a tensor map, of the fence that acquires the map, and of a copy
// that uses it. Whether there are such fences, and copies in flight, is checked in
// detect/tensor_maps.
#include <algorithm>
#include <bit>

#include "gpu/check/detect/races/races.hpp"

namespace inflight::check::races {

void Races::map_changed(const Block& block, const Access& access, Mask mask) {
  maps_change_.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  for (Mask m = mask; m != 0; m &= m - 1) {
    MapChange& change = map_changes_[{access.who.launch, access.addresses[std::countr_zero(m)]}];
    change = {access.who, order::warp_row(block.order.row(), order::Part::thread, access.who.warp),
              block.order.epoch()};
  }
}

// The last change of the map in the launch, if it was by another warp.
std::optional<Races::MapChange> Races::map_change(const Block& block, const Who& who,
                                                  std::uint64_t map) {
  if (!maps_change_.load(std::memory_order_relaxed)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = map_changes_.find({who.launch, map});
  const order::Row own = order::warp_row(block.order.row(), order::Part::thread, who.warp);
  if (found == map_changes_.end() || found->second.row == own) return std::nullopt;
  return found->second;
}

namespace {

// Whether a lane of `who` knows of the change. A warp changes a map as a whole, so it is enough to
// know of one lane.
bool knows(const Block& block, const Who& who, order::Row row, Mask lanes, order::Epoch epoch) {
  for (Mask m = who.mask; m != 0; m &= m - 1) {
    const order::View& view =
        block.order.view(who.warp, static_cast<unsigned>(std::countr_zero(m)));
    for (Mask by = lanes; by != 0; by &= by - 1)
      if (view.together.covers(row, by & -by, epoch) ||
          view.known.loose.covers(row, by & -by, epoch))
        return true;
  }
  return false;
}

}  // namespace

void Races::map_acquired(Block& block, const Fence& fence) {
  if (fence.order != Order::acquire && fence.order != Order::acq_rel) return;
  const auto change = map_change(block, fence.who, fence.address);
  if (!change) return;
  const Block::MapFence now{fence.address, change->row, change->epoch,
                            knows(block, fence.who, change->row, change->who.mask, change->epoch)};
  auto& all = block.map_fences;
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.map == now.map; });
  if (known == all.end())
    all.push_back(now);
  else if (!known->ordered || known->row != now.row || known->epoch != now.epoch)
    *known = now;
}

void Races::check_map_order(Block& block, const CopyIssued& event) {
  const auto change = map_change(block, event.who, event.tensor_map);
  if (!change) return;
  if (!knows(block, event.who, change->row, change->who.mask, change->epoch))
    return reporter_.map_unordered(event.who, change->who, event.tensor_map, false);
  for (const auto& each : block.map_fences)
    if (each.map == event.tensor_map && !each.ordered && each.row == change->row &&
        each.epoch == change->epoch)
      reporter_.map_unordered(event.who, change->who, event.tensor_map, true);
}

}  // namespace inflight::check::races
