// One entry per key. The first occurrence is reported immediately, a consequence after its cause.
#include "gpu/check/finding/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace inflight::check {

bool Findings::again(const FindingKey& key) {
  const std::lock_guard lock(mutex_);
  return counts_[key]++ != 0;
}

void Findings::report(const FindingKey& key, Finding finding) {
  if (on_new_) on_new_(finding);
  const std::lock_guard lock(mutex_);
  found_.emplace_back(key, std::move(finding));
}

template <class Which>
std::vector<Findings::Held> Findings::take_held(Which which) {
  std::vector<Held> taken;
  const std::lock_guard lock(mutex_);
  for (Held& each : held_)
    if (which(each.of)) taken.push_back(std::move(each));
  std::erase_if(held_, [&](const Held& each) { return which(each.of); });
  waiting_ = held_.size();
  return taken;
}

void Findings::put(const FindingKey& key, Finding finding) {
  const std::lock_guard reporting(reporting_);
  if (complete_) complete_(finding);
  std::vector<Held> consequences;
  const auto& threads = finding.here.threads;
  const FindingKind kind = finding.kind;
  const bool counts = kind == FindingKind::transaction_count || kind == FindingKind::arrival_count;
  if (counts && threads && finding.bytes)
    consequences = take_held([&](const Suspect& of) {
      return of.launch == threads->launch &&
             (of.mbarrier == Suspect::any || of.mbarrier == finding.bytes->address);
    });
  report(key, std::move(finding));
  for (Held& each : consequences) {
    each.finding.remedy =
        fmt::format("first mend the {} above, from which this may follow. If this remains: {}",
                    facts_of(kind).id, each.finding.remedy);
    report(each.key, std::move(each.finding));
  }
}

void Findings::hold(const FindingKey& key, const Suspect& of, Finding finding) {
  constexpr std::size_t most = 256;
  const std::lock_guard reporting(reporting_);
  if (complete_) complete_(finding);
  {
    const std::lock_guard lock(mutex_);
    if (held_.size() < most) {
      held_.push_back({key, of, std::move(finding)});
      waiting_ = held_.size();
      return;
    }
  }
  report(key, std::move(finding));
}

void Findings::release(std::uint64_t launch, std::uint64_t block) {
  if (waiting_ == 0) return;
  const std::lock_guard reporting(reporting_);
  for (Held& each : take_held([&](const Suspect& of) {
         return of.launch == launch && (block == Suspect::any || of.block == block);
       }))
    report(each.key, std::move(each.finding));
}

std::vector<Finding> Findings::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> all;
  const auto add = [&](const FindingKey& key, const Finding& finding) {
    all.push_back(finding);
    all.back().count = counts_.at(key);
  };
  for (const auto& [key, finding] : found_) add(key, finding);
  for (const Held& each : held_) add(each.key, each.finding);
  return all;
}

std::size_t Findings::count() const {
  const std::lock_guard lock(mutex_);
  return found_.size() + held_.size();
}

bool Findings::concern(std::uint64_t launch) const {
  const std::lock_guard lock(mutex_);
  const auto is_of = [&](const Finding& each) {
    const auto& threads = each.here.threads;
    return threads && threads->launch == launch && !only_if_strict(each.kind);
  };
  return std::any_of(found_.begin(), found_.end(),
                     [&](const auto& each) { return is_of(each.second); }) ||
         std::any_of(held_.begin(), held_.end(),
                     [&](const Held& each) { return is_of(each.finding); });
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
