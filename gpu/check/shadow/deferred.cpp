// Decides which reads can be deferred.
#include "gpu/check/shadow/deferred.hpp"

#include <bit>

#include "gpu/check/shadow/shadow.hpp"

namespace inflight::shadow {
namespace {

// The bitwise or of all addresses.
std::uint64_t or_of_addresses(const Access& read) {
  std::uint64_t bits = 0;
  if (read.lanes == ~order::Mask{0}) {  // the usual case, without masking
    for (unsigned l = 0; l < order::lanes; ++l) bits |= read.addresses[l];
  } else {
    for (order::Mask m = read.lanes; m != 0; m &= m - 1)
      bits |= read.addresses[std::countr_zero(m)];
  }
  return bits;
}

}  // namespace

bool DeferredReads::try_defer(const order::Block& block, std::uint32_t warp, const Access& read) {
  if (read.strong || copied_ || written_ > block.joined() || block.in_cluster()) return false;
  if (replayed_ > dropped_ + max_excess_replays) return false;  // deferring does not pay off here
  if (!reads_.empty() && last_ <= block.joined()) {
    reads_.clear();
    ++dropped_;
  }
  if (reads_.size() == most) return false;
  if (or_of_addresses(read) > 0xffff) return false;  // few blocks have so much, filled by copies
  Read& kept = reads_.emplace_back();
  for (unsigned l = 0; l < order::lanes; ++l)
    kept.addresses[l] = static_cast<std::uint16_t>(read.addresses[l]);
  kept.lanes = read.lanes;
  kept.bytes = read.bytes, kept.place = read.place, kept.warp = warp;
  kept.epoch = last_ = block.epoch();
  return true;
}

}  // namespace inflight::shadow
