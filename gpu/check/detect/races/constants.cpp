// A cache of a block's reads of constant memory, by their first address.
#include "gpu/check/detect/races/constants.hpp"

#include <algorithm>
#include <bit>

namespace inflight::check::races {

Mask Constants::unread(const Access& access, order::Epoch epoch) {
  if (read_.empty()) read_.resize(slots);
  Mask unread = 0;
  std::uint64_t last = 0;  // lanes mostly read the same address
  for (Mask m = access.who.mask; m != 0; m &= m - 1) {
    const std::uint64_t address = access.addresses[std::countr_zero(m)];
    if (address == last) continue;
    last = address;
    Read& before = read_[address / 4 % slots];
    if (before.address == address && before.bytes >= access.bytes && before.epoch == epoch)
      continue;
    before = {address, access.bytes, epoch};
    low_ = std::min(low_, address);
    high_ = std::max(high_, address + access.bytes);
    unread |= m & -m;
  }
  return unread;
}

void Constants::written(const Access& access, Mask mask) {
  for (Mask m = high_ == 0 ? 0 : mask; m != 0; m &= m - 1) {
    const std::uint64_t address = access.addresses[std::countr_zero(m)];
    if (address < high_ && address + access.bytes > low_) return forget();
  }
}

void Constants::forget() {
  read_.clear();
  low_ = ~std::uint64_t{0};
  high_ = 0;
}

}  // namespace inflight::check::races
