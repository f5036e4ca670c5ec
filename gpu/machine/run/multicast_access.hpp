// Accesses through a multicast object's addresses, each of which stands for memory of all its
// devices.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {

// Lanes whose addresses are in one span, and their addresses on each device.
struct MulticastLanes {
  struct Device {
    std::array<std::uint64_t, lanes> at;    // on the host
    std::array<std::uint64_t, lanes> seen;  // the program's addresses, if `visible`
    bool visible;
  };
  std::uint32_t mask = 0;
  std::vector<Device> devices;  // in the order in which they were added
};
// Groups accesses of `bytes` by the lanes of `mask`. `astray`: lanes whose address is in no mapped
// object to which each of its devices has bound memory there.
std::vector<MulticastLanes> multicast_lanes(const Warp& w, std::uint32_t mask,
                                            const std::uint64_t* addresses, std::uint32_t bytes,
                                            std::uint32_t& astray);

// Calls move(mask, host addresses) for each device that the accesses reach. Returns false and moves
// nothing if an address is in no such object.
template <class Move>
bool for_each_device(const Warp& w, std::uint32_t mask, const std::uint64_t* addresses,
                     std::uint32_t bytes, Move move) {
  if (w.block->grid->memory->multicasts().empty()) return false;
  std::uint32_t astray = 0;
  const auto groups = multicast_lanes(w, mask, addresses, bytes, astray);
  if (astray) return false;
  for (const MulticastLanes& group : groups)
    for (const MulticastLanes::Device& device : group.devices) move(group.mask, device.at.data());
  return true;
}

}  // namespace inflight::machine
