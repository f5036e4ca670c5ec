// Keeps conflicts until an access proves them correct or their launch ends.
#include "gpu/check/detect/races/candidates.hpp"

#include <bit>
#include <utility>

#include "gpu/check/detect/races/words.hpp"

namespace inflight::check::races {

namespace {

Mask lanes_at(const Access& access, std::uint64_t address) {
  Mask found = 0;
  for (Mask m = access.who.mask; m != 0; m &= m - 1)
    if (access.addresses[std::countr_zero(m)] == address) found |= m & -m;
  return found;
}

// The same conflict as the warning that it is if the load is one that an atomic follows.
shadow::Conflict excused(shadow::Conflict c) {
  c.excuse = shadow::Excuse::peek;
  return c;
}

}  // namespace

void Candidates::keep(Reporter& reporter, const Scene& scene, const shadow::Conflict& c,
                      PlaceId line) {
  const auto launch = static_cast<std::uint32_t>(order::launch_of(c.later.row));
  const auto other = static_cast<std::uint32_t>(order::launch_of(c.earlier.row));
  const FindingKey key = reporter.key_of(scene, c);
  if (kept_.contains(key)) return;
  Kept& kept =
      kept_.emplace(key, Kept{launch, other, line, reporter.finding_of(scene, c)}).first->second;
  if (c.why == shadow::Why::at_once) return;
  const shadow::Conflict warning = excused(c);
  kept.warning.emplace(reporter.key_of(scene, warning), reporter.finding_of(scene, warning));
}

void Candidates::keep_volatile(Reporter& reporter, const Scene& scene, const shadow::Conflict& c,
                               std::uint64_t location) {
  const auto launch = static_cast<std::uint32_t>(order::launch_of(c.later.row));
  const auto other = static_cast<std::uint32_t>(order::launch_of(c.earlier.row));
  const FindingKey key = reporter.key_of(scene, c);
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(key);
  if (found != kept_.end() && !flags_.contain(found->second.location)) return;
  any_ = true;
  kept_.insert_or_assign(key,
                         Kept{launch, other, no_place, reporter.finding_of(scene, c), location});
}

bool Candidates::take_at_once(Reporter& reporter, const Scene& scene, const shadow::Conflict& c,
                              Mask lanes) {
  const std::lock_guard lock(mutex_);
  any_ = any_at_once_ = true;
  const PlaceId line = reporter.line_of(c.later.place);
  if (written_.size() < most_watched)
    written_.insert_or_assign({c.later.row, c.address}, WrittenAtOnce{line, lanes});
  keep(reporter, scene, c, line);
  return true;
}

void Candidates::read_back(order::Row block, const Access& access, Mask mask) {
  const order::Row row = order::warp_row(block, order::Part::thread, access.who.warp);
  const std::lock_guard lock(mutex_);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const std::uint64_t at = access.addresses[std::countr_zero(left)];
    const auto found = written_.find({row, at});
    if (found == written_.end()) continue;
    Mask same = 0;
    for (Mask m = mask; m != 0; m &= m - 1)
      if (access.addresses[std::countr_zero(m)] == at) same |= m & -m;
    if ((found->second.lanes & ~same) == 0) {
      correct_.insert(found->second.line);
      written_.erase(found);
    }
  }
}

bool Candidates::take(Reporter& reporter, const Scene& scene, const shadow::Conflict& c,
                      const Access* access) {
  const Mask lanes = access ? lanes_at(*access, c.address) : 0;
  if (c.why == shadow::Why::at_once && lanes != 0) return take_at_once(reporter, scene, c, lanes);
  const bool load_first = !c.earlier.write;
  const shadow::Side &load = load_first ? c.earlier : c.later,
                     &update = load_first ? c.later : c.earlier;
  if (!scene.block || load.write || load.strong || !update.update) return false;
  if (is_copy(initiator_of(load.row, false)) || is_copy(initiator_of(update.row, false)))
    return false;
  const PlaceId line = reporter.line_of(load.place);
  std::unique_lock lock(mutex_);
  const bool is_atomic = access && access->kind == Access::Kind::atomic;
  if (load_first && is_atomic && load.row == update.row && (load.lanes & lanes) != 0) {
    correct_.insert(line);  // the atomic's lane is one of those that loaded
    lock.unlock();
    reporter.conflict(scene, excused(c));
    return true;
  }
  any_ = true;
  if (watched_.size() < most_watched) watched_.insert_or_assign({load.row, c.address}, line);
  keep(reporter, scene, c, line);
  return true;
}

void Candidates::updated(order::Row block, const Access& access, Mask mask) {
  if (!any_) return;
  const order::Row row = order::warp_row(block, order::Part::thread, access.who.warp);
  const std::lock_guard lock(mutex_);
  for (; mask != 0; mask &= mask - 1) {
    const std::uint64_t begin = access.addresses[std::countr_zero(mask)];
    auto each = watched_.lower_bound({row, begin});
    while (each != watched_.end() && each->first.first == row &&
           each->first.second < begin + access.bytes) {
      correct_.insert(each->second);
      each = watched_.erase(each);
    }
  }
}

void Candidates::mark_correct(PlaceId line) {
  const std::lock_guard lock(mutex_);
  correct_.insert(line);
}

void Candidates::barrier(order::Row block) {
  if (!any_) return;
  const std::lock_guard lock(mutex_);
  watched_.erase(watched_.lower_bound({block, 0}),
                 watched_.lower_bound({block + (order::Row{1} << order::row_bits), 0}));
}

void Candidates::end(std::uint32_t launch, const std::set<std::uint32_t>& running,
                     Findings& findings) {
  if (!any_) return;
  std::vector<std::pair<FindingKey, Finding>> left;
  {
    const std::lock_guard lock(mutex_);
    for (auto each = kept_.begin(); each != kept_.end();) {
      Kept& kept = each->second;
      if (kept.launch == launch && running.contains(kept.other)) std::swap(kept.launch, kept.other);
      if (kept.launch != launch) {
        ++each;
        continue;
      }
      if (kept.location != 0 ? !flags_.contain(kept.location) : !correct_.contains(kept.line))
        left.emplace_back(each->first, std::move(kept.finding));
      else if (kept.warning)
        left.push_back(std::move(*kept.warning));
      each = kept_.erase(each);
    }
    std::erase_if(watched_, [&](const auto& each) {
      return each.first.first >> order::launch_shift == launch;
    });
    std::erase_if(written_, [&](const auto& each) {
      return each.first.first >> order::launch_shift == launch;
    });
    any_ = !kept_.empty();
    any_at_once_ = !written_.empty();
  }
  for (auto& [key, finding] : left)
    findings.add(key, [&found = finding] { return std::move(found); });
}

}  // namespace inflight::check::races
