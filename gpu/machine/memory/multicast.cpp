// Multicast objects: ranges of devices' memory, found by offset and by address.
#include "gpu/machine/memory/multicast.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "gpu/bytes/range.hpp"

namespace inflight::machine {
namespace {

// A range by its base, with its size in bytes as it is in a map. It does not wrap: it lies in an
// object or at addresses that the host has reserved.
template <class Sized>
ByteRange range_of(const std::pair<const std::uint64_t, Sized>& entry) {
  return ByteRange::of(entry.first, entry.second.bytes).value_or(ByteRange());
}

}  // namespace

MulticastObject::Device* MulticastObject::find(int device) {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const Device& each) { return each.ordinal == device; });
  return found == devices_.end() ? nullptr : &*found;
}

bool MulticastObject::add(int device) {
  const std::lock_guard lock(mutex_);
  if (devices_.size() == most_ || find(device)) return false;
  devices_.push_back({device, {}});
  return true;
}

bool MulticastObject::bind(int device, std::uint64_t offset, std::uint64_t bytes, std::byte* at) {
  const std::lock_guard lock(mutex_);
  Device* const to = find(device);
  const auto range = ByteRange::of(offset, bytes);
  if (!to || devices_.size() != most_ || !range || range->end() > bytes_) return false;
  const auto next = to->pieces.lower_bound(offset);
  if (next != to->pieces.end() && range->contains(next->first)) return false;
  if (next != to->pieces.begin() && range_of(*std::prev(next)).overlaps(*range)) return false;
  to->pieces[offset] = {bytes, at};
  return true;
}

bool MulticastObject::unbind(int device, std::uint64_t offset, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  Device* const from = find(device);
  const auto found = from ? from->pieces.find(offset) : decltype(from->pieces.begin()){};
  if (!from || found == from->pieces.end() || found->second.bytes != bytes) return false;
  from->pieces.erase(found);
  return true;
}

void MulticastObject::see(int device, std::uint64_t offset, std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  if (address)
    seen_[{device, offset}] = address;
  else
    seen_.erase({device, offset});
}

MulticastSpan MulticastObject::span(std::uint64_t offset) const {
  const std::shared_lock lock(mutex_);
  MulticastSpan span{0, bytes_, {}};
  if (devices_.size() != most_) return span;
  for (const Device& device : devices_) {
    const auto after = device.pieces.upper_bound(offset);
    if (after == device.pieces.begin()) return {};
    const auto& [begin, piece] = *std::prev(after);
    const ByteRange range = range_of(*std::prev(after));
    if (!range.contains(offset)) return {};
    span.low = std::max(span.low, range.base());
    span.high = std::min(span.high, range.end());
    const auto seen = seen_.find({device.ordinal, begin});
    span.places.push_back(
        {piece.at + (offset - begin), seen == seen_.end() ? 0 : seen->second + (offset - begin)});
  }
  for (MulticastSpan::Place& place : span.places) {
    place.at -= offset - span.low;
    if (place.seen) place.seen -= offset - span.low;
  }
  return span;
}

void MulticastRanges::map(std::uint64_t base, std::uint64_t bytes,
                          std::shared_ptr<MulticastObject> object) {
  const std::lock_guard lock(mutex_);
  ranges_[base] = {bytes, std::move(object)};
  count_.store(ranges_.size(), std::memory_order_release);
}

void MulticastRanges::unmap(std::uint64_t base) {
  const std::lock_guard lock(mutex_);
  ranges_.erase(base);
  count_.store(ranges_.size(), std::memory_order_release);
}

const std::pair<const std::uint64_t, MulticastRanges::Range>* MulticastRanges::find(
    std::uint64_t address) const {
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return nullptr;
  const auto& found = *std::prev(after);
  return range_of(found).contains(address) ? &found : nullptr;
}

bool MulticastRanges::contains(std::uint64_t address) const {
  if (empty()) return false;
  const std::shared_lock lock(mutex_);
  return find(address) != nullptr;
}

MulticastSpan MulticastRanges::span(std::uint64_t address) const {
  if (empty()) return {};
  const std::shared_lock lock(mutex_);
  const auto* const range = find(address);
  if (!range) return {};
  MulticastSpan span = range->second.object->span(address - range->first);
  span.low += range->first;
  span.high = range->first + std::min(span.high, range->second.bytes);
  return span;
}

std::vector<MulticastSpan::Place> MulticastRanges::places(std::uint64_t address,
                                                          std::uint64_t bytes) const {
  MulticastSpan here = span(address);
  if (here.places.empty() || bytes > here.high - address) return {};
  for (MulticastSpan::Place& each : here.places) {
    each.at += address - here.low;
    if (each.seen) each.seen += address - here.low;
  }
  return std::move(here.places);
}

}  // namespace inflight::machine
