// A cache of a block's reads of constant memory, by their first address.
#include "gpu/check/detect/races/constants.hpp"

#include <bit>

namespace inflight::check::races {

Mask Constants::unread(const Access& access) {
  if (read_.empty()) read_.resize(slots);
  Mask unread = 0;
  std::uint64_t last = 0;  // lanes mostly read the same address
  for (Mask m = access.who.mask; m != 0; m &= m - 1) {
    const std::uint64_t address = access.addresses[std::countr_zero(m)];
    if (address == last) continue;
    last = address;
    Read& before = read_[address / 4 % slots];
    if (before.address == address && before.bytes >= access.bytes) continue;
    before = {address, access.bytes};
    unread |= m & -m;
  }
  return unread;
}

}  // namespace inflight::check::races
