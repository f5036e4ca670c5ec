// Multicast objects: ranges of devices' memory, by offset and by address.
#include "gpu/machine/memory/multicast.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

namespace inflight::machine {

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
  if (!to || devices_.size() != most_ || bytes > bytes_ || offset > bytes_ - bytes) return false;
  const auto next = to->pieces.lower_bound(offset);
  if (next != to->pieces.end() && next->first < offset + bytes) return false;
  if (next != to->pieces.begin()) {
    const auto& [begin, piece] = *std::prev(next);
    if (begin + piece.bytes > offset) return false;
  }
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

std::vector<std::byte*> MulticastObject::places(std::uint64_t offset, std::uint64_t bytes) const {
  const std::shared_lock lock(mutex_);
  std::vector<std::byte*> all;
  if (devices_.size() != most_) return all;
  for (const Device& device : devices_) {
    const auto after = device.pieces.upper_bound(offset);
    if (after == device.pieces.begin()) return {};
    const auto& [begin, piece] = *std::prev(after);
    if (offset + bytes > begin + piece.bytes) return {};
    all.push_back(piece.at + (offset - begin));
  }
  return all;
}

void MulticastRanges::map(std::uint64_t base, std::uint64_t bytes,
                          std::shared_ptr<MulticastObject> object) {
  const std::lock_guard lock(mutex_);
  ranges_[base] = {bytes, std::move(object)};
}

void MulticastRanges::unmap(std::uint64_t base) {
  const std::lock_guard lock(mutex_);
  ranges_.erase(base);
}

std::vector<std::byte*> MulticastRanges::places(std::uint64_t address, std::uint64_t bytes) const {
  const std::shared_lock lock(mutex_);
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return {};
  const auto& [base, range] = *std::prev(after);
  if (address + bytes > base + range.bytes) return {};
  return range.object->places(address - base, bytes);
}

}  // namespace inflight::machine
