// Finds mappings of the same bytes in /proc/self/maps.
#include "gpu/check/detect/races/aliases.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>

namespace inflight::check::races {

void Aliases::made(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t last = address + bytes;
  std::ifstream maps("/proc/self/maps");
  const std::lock_guard lock(mutex_);
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0, end = 0, offset = 0, major = 0, minor = 0, file = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(),
                    "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx64 ":%" SCNx64 " %" SCNu64,
                    &begin, &end, rights, &offset, &major, &minor, &file) != 7)
      continue;
    if (end <= address || begin >= last || rights[3] != 's' || file == 0) continue;
    const std::uint64_t from = std::max(begin, address);
    Mapped now{
        std::min(end, last), major << 32 | minor, file, offset + (from - begin), from, address};
    for (const auto& [at, old] : mapped_)
      if (old.known_at == at && at != from && old.device == now.device && old.file == now.file &&
          old.offset <= now.offset &&
          now.offset + (now.end - from) <= old.offset + (old.end - at)) {
        now.known_at = at + (now.offset - old.offset);
        any_.store(true, std::memory_order_relaxed);
        break;
      }
    mapped_[from] = now;
  }
}

void Aliases::released(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  for (auto it = mapped_.begin(); it != mapped_.end();) {
    if (it->second.made != address) {
      ++it;
      continue;
    }
    const auto [at, gone] = *it;
    it = mapped_.erase(it);
    if (gone.known_at != at) continue;
    // Its bytes' other mappings get their own addresses as canonical ones.
    for (auto& [other, each] : mapped_)
      if (each.known_at >= at && each.known_at < gone.end) each.known_at = other;
  }
}

std::uint64_t Aliases::at(std::uint64_t address) const {
  if (!any()) return address;
  const std::shared_lock lock(mutex_);
  auto found = mapped_.upper_bound(address);
  if (found == mapped_.begin()) return address;
  --found;
  return address < found->second.end ? found->second.known_at + (address - found->first) : address;
}

}  // namespace inflight::check::races
