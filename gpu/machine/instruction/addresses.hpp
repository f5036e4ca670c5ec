// How a lane's address is formed, for all code that forms one: the moves of loads and stores,
// copies and mbarriers, observers, counters.
#pragma once
#include <cstdint>
#include <type_traits>

#include "gpu/ptx/types.hpp"

namespace inflight::machine {

// Whether the addresses of a space have 32 bits. The sum of base and offset then wraps modulo 2^32,
// even if the base is a register of 64 bits, as on the hardware. Otherwise they have 64 bits, and a
// register of 32 bits is extended with zeros before the offset is added.
constexpr bool has_narrow_addresses(ptx::Space space) {
  switch (space) {
    case ptx::Space::local:
    case ptx::Space::param:
    case ptx::Space::param_entry:
    case ptx::Space::param_func:
    case ptx::Space::shared:
    case ptx::Space::shared_cta:
    case ptx::Space::shared_cluster:
      return true;
    case ptx::Space::generic:
    case ptx::Space::reg:
    case ptx::Space::sreg:
    case ptx::Space::constant:
    case ptx::Space::global:
    case ptx::Space::tex:
      return false;
  }
  return false;
}

template <ptx::Space space>
using AddressIn = std::conditional_t<has_narrow_addresses(space), std::uint32_t, std::uint64_t>;

// The bits of a sum of base and offset that count.
constexpr std::uint64_t address_bits(ptx::Space space) {
  return has_narrow_addresses(space) ? std::uint32_t(-1) : std::uint64_t(-1);
}

}  // namespace inflight::machine
