// Resolves lanes' addresses to spans of multicast objects.
#include "gpu/machine/run/multicast_access.hpp"

#include <bit>

#include "gpu/machine/run/each_lane.hpp"

namespace inflight::machine {
namespace {

bool holds(const MulticastSpan& span, std::uint64_t address, std::uint32_t bytes) {
  return !span.places.empty() && address >= span.low && address < span.high &&
         span.high - address >= bytes;
}

MulticastLanes in_span(const MulticastSpan& span, std::uint32_t mask,
                       const std::uint64_t* addresses) {
  MulticastLanes group;
  group.mask = mask;
  group.devices.resize(span.places.size());
  for (std::size_t d = 0; d < span.places.size(); ++d) {
    const MulticastSpan::Place& place = span.places[d];
    MulticastLanes::Device& device = group.devices[d];
    device.visible = place.seen != 0;
    const auto at = reinterpret_cast<std::uint64_t>(place.at);
    for (std::size_t l = 0; l < lanes; ++l) {
      device.at[l] = at + (addresses[l] - span.low);
      device.seen[l] = place.seen + (addresses[l] - span.low);
    }
  }
  return group;
}

}  // namespace

std::vector<MulticastLanes> multicast_lanes(const Warp& w, std::uint32_t mask,
                                            const std::uint64_t* addresses, std::uint32_t bytes,
                                            std::uint32_t& astray) {
  const MulticastRanges& ranges = w.block->grid->memory->multicasts();
  std::vector<MulticastLanes> groups;
  astray = 0;
  while (mask) {
    const std::uint32_t first = mask & -mask;
    const MulticastSpan span = ranges.span(addresses[std::countr_zero(first)]);
    std::uint32_t together = 0;
    each_lane(mask, [&](int l) {
      if (holds(span, addresses[l], bytes)) together |= 1u << l;
    });
    if (together & first)
      groups.push_back(in_span(span, together, addresses));
    else
      astray |= first;
    mask &= ~(together | first);
  }
  return groups;
}

}  // namespace inflight::machine
