// Allocations as ranges of bytes, and whether a device may use every byte of a range.
#pragma once
#include "gpu/bytes/range.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::machine {

// Neither wraps, because a memory takes no allocation that does.
inline ByteRange range_of(const Allocation& a) {
  return ByteRange::of(a.base, a.size).value_or(ByteRange());
}
inline ByteRange range_of(const Extent& e) {
  return ByteRange::between(e.low, e.high).value_or(ByteRange());
}
// With the bytes behind it that belong to nobody else.
inline ByteRange padded_range_of(const Allocation& a) {
  return ByteRange::of(a.base, Checked(a.size) + a.padding).value_or(range_of(a));
}

// True if every byte of the range is in one allocation that is live now, and the device may read
// it, or write to it if `writing`. True also for an empty range.
inline bool may_use(const Memory& memory, int device, const ByteRange& range, bool writing) {
  if (range.empty()) return true;
  const Extent around = memory.extent(device, range.base());
  return range_of(around).contains(range) && (around.writable || !writing);
}

}  // namespace inflight::machine
