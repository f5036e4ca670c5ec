// One entry per key. The first occurrence is reported immediately.
#include "gpu/check/finding/findings.hpp"

#include <algorithm>

namespace inflight::check {

bool Findings::again(const FindingKey& key) {
  const std::lock_guard lock(mutex_);
  return counts_[key]++ != 0;
}

void Findings::put(const FindingKey& key, Finding finding) {
  const std::lock_guard reporting(reporting_);
  if (complete_) complete_(finding);
  if (on_new_) on_new_(finding);
  const std::lock_guard lock(mutex_);
  found_.emplace_back(key, std::move(finding));
}

std::vector<Finding> Findings::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> all;
  for (const auto& [key, finding] : found_) {
    all.push_back(finding);
    all.back().count = counts_.at(key);
  }
  return all;
}

std::size_t Findings::count() const {
  const std::lock_guard lock(mutex_);
  return found_.size();
}

bool Findings::concern(std::uint64_t launch) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(found_.begin(), found_.end(), [&](const auto& each) {
    const auto& threads = each.second.here.threads;
    return threads && threads->launch == launch && !only_if_strict(each.second.kind);
  });
}

void Findings::explain(std::uint64_t launch) {
  const std::lock_guard lock(mutex_);
  explained_.insert(launch);
}

bool Findings::explains(std::uint64_t launch) const {
  const std::lock_guard lock(mutex_);
  return explained_.contains(launch);
}

}  // namespace inflight::check
