// Compares polls with the last few, and keeps device memory by address.
#include "gpu/check/detect/waiting/polls.hpp"

#include <algorithm>
#include <utility>

namespace inflight::check {

void WarpPolls::saw(const Poll& poll, std::uint64_t writes) {
  const std::size_t kept = std::min(count_, seen_.size());
  ++polls_;
  for (std::size_t i = 0; i < kept; ++i)
    if (seen_[i].same(poll)) {
      last_at_[i] = polls_;
      if (++repeats_ % many == 0) since_ = std::exchange(then_, writes);
      return;
    }
  last_at_[count_ % seen_.size()] = polls_;
  seen_[count_++ % seen_.size()] = poll;
  repeats_ = 0;
  since_ = then_ = writes;
}

bool WarpPolls::sees_changes() const {
  const std::size_t kept = std::min(count_, seen_.size());
  const auto is_recent = [&](std::size_t i) { return polls_ - last_at_[i] < many; };
  for (std::size_t i = 0; i < kept; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (is_recent(i) && is_recent(j) && seen_[i].asks_the_same(seen_[j])) return true;
  return false;
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
