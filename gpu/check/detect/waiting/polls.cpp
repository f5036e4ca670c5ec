// Compares polls with the last few, and keeps device memory by address.
#include "gpu/check/detect/waiting/polls.hpp"

#include <algorithm>

namespace inflight::check {

void WarpPolls::saw(const Poll& poll) {
  const std::size_t kept = std::min(count_, seen_.size());
  for (std::size_t i = 0; i < kept; ++i)
    if (seen_[i].same(poll)) {
      ++repeats_;
      return;
    }
  seen_[count_++ % seen_.size()] = poll;
  repeats_ = 0;
}

void WarpWrites::wrote(const Write& write) {
  const std::size_t kept = std::min(count_, last_.size());
  for (std::size_t i = 0; i < kept; ++i)
    if (last_[i].at == write.at) {
      last_[i] = write;
      return;
    }
  last_[count_++ % last_.size()] = write;
}

void DeviceMemory::note(const Allocation& event) {
  const bool device =
      event.kind == Allocation::Kind::device || event.kind == Allocation::Kind::variable;
  if (!device || event.bytes == 0) return;
  const std::lock_guard lock(mutex_);
  // Memory that was adopted or is shared with another process may change from outside.
  if (event.step == Allocation::Step::made && event.fresh)
    ends_[event.address] = event.address + event.bytes;
  else
    ends_.erase(event.address);
}

bool DeviceMemory::holds(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto after = ends_.upper_bound(address);
  return after != ends_.begin() && address < std::prev(after)->second;
}

}  // namespace inflight::check
