// Accesses that synchronise with a host that reads and writes the same memory.
#include <bit>
#include <memory>
#include <utility>

#include "gpu/check/detect/races/races.hpp"

namespace inflight::check::races {
namespace {

constexpr auto system_scope = static_cast<std::size_t>(order::Scope::sys);

std::shared_ptr<const order::Patterns::Fence> system_fence(const order::View& view) {
  return view.patterns ? view.patterns->fences[system_scope] : nullptr;
}

}  // namespace

bool Races::publishes_to_host(const Block& block, const Access& event, Mask mask) const {
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  return system_fence(block.order.view(event.who.warp, lane)) &&
         host_.is_shared(event.addresses[lane]);
}

// The host's polling accesses are not observed. So each side counts as having observed what the
// other wrote.
void Races::acquire_from_host(Block& block, const Access& event, Mask mask) {
  Block::AcquiredFromHost& acquired = block.warps[event.who.warp].acquired_from_host;
  if (const std::uint64_t news = host_.news(); acquired.news != news) acquired = {0, news};
  if ((mask & ~acquired.lanes) == 0 || !host_.is_shared(event.addresses[std::countr_zero(mask)]))
    return;
  acquired.lanes |= mask;
  block.order.learn(event.who.warp, mask, host_.host_knows());
}

void Races::publish_to_host(Block& block, const Access& event, Mask mask) {
  const bool is_release = releases(order_of(event.order));
  const std::uint32_t warp = event.who.warp;
  Block::PublishedToHost& published = block.warps[warp].published_to_host;
  for (const auto& group : block.order.groups(warp)) {
    const Mask lanes = group.lanes & mask;
    const auto fence = system_fence(*group.view);
    if (lanes == 0 || (!fence && !is_release)) continue;
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    const bool again = published.fence == fence && (lanes & ~published.lanes) == 0;
    if ((again && !is_release) || !host_.is_shared(event.addresses[first])) continue;
    if (published.fence != fence) published = {fence, 0};
    published.lanes |= lanes;
    if (fence)
      host_.host_learns(fence->before.published(block.order.row(), warp, lanes, fence->epoch));
    for (Mask m = is_release ? lanes : 0; m != 0; m &= m - 1)
      host_.host_learns(block.order.issue(warp, static_cast<unsigned>(std::countr_zero(m))));
  }
}

}  // namespace inflight::check::races
