// Searches the nestings of locks for circles.
#include "gpu/check/detect/locks/lock_order.hpp"

#include <algorithm>

namespace inflight::check::locks {
namespace {

bool of_one_thread(const Who& a, const Who& b) {
  return a.block == b.block && a.warp == b.warp && a.mask == b.mask;
}

// The same thread takes the locks at the same places.
bool is_repeat(const Nesting& a, const Nesting& b) {
  return of_one_thread(a.held.who, b.held.who) &&
         a.held.who.instruction == b.held.who.instruction &&
         a.wanted.who.instruction == b.wanted.who.instruction;
}

// The word has the value that `wanted` waits for only while `held` does not hold the lock.
bool waits_for(const Taking& wanted, const Taking& held) {
  return wanted.lock == held.lock && wanted.free == held.free;
}

bool holds(const Nesting& nesting, const Word& lock) {
  return nesting.held.lock == lock ||
         std::ranges::find(nesting.others, lock) != nesting.others.end();
}

// The thread of `b` came to its locks after that of `a` had both of its own, and not only because
// it took these locks later.
bool comes_after(const Nesting& b, const Nesting& a) { return b.held.before.knows(a.wanted.then); }

// Two threads can be at these waits together.
bool can_meet(const Nesting& a, const Nesting& b) {
  return !of_one_thread(a.held.who, b.held.who) && !holds(b, a.held.lock) &&
         std::ranges::none_of(a.others, [&](const Word& lock) { return holds(b, lock); }) &&
         !comes_after(a, b) && !comes_after(b, a);
}

}  // namespace

std::vector<Nesting> LockOrder::add(Nesting nesting) {
  const std::lock_guard lock(mutex_);
  std::uint32_t& added = added_[{nesting.held.who.instruction, nesting.wanted.who.instruction}];
  if (added == most_added) return {};
  ++added;
  Circle circle{&nesting};
  std::uint32_t steps = most_steps;
  std::vector<Nesting> found;
  if (close(circle, steps))
    for (const Nesting* const each : circle) found.push_back(*each);
  keep(std::move(nesting));
  return found;
}

void LockOrder::forget(std::uint64_t address, std::uint64_t bytes) {
  const auto gone = [&](const Word& lock) {
    return lock.owner == 0 && lock.address >= address && lock.address - address < bytes;
  };
  const std::lock_guard lock(mutex_);
  for (auto& [held, by_wanted] : by_held_)
    for (auto& [wanted, all] : by_wanted)
      if (gone(held) || gone(wanted)) {
        kept_ -= all.size();
        all.clear();
      }
}

void LockOrder::keep(Nesting&& nesting) {
  if (kept_ == most_kept) return;
  std::vector<Nesting>& all = by_held_[nesting.held.lock][nesting.wanted.lock];
  const auto repeat =
      std::ranges::find_if(all, [&](const Nesting& each) { return is_repeat(each, nesting); });
  if (repeat != all.end()) {
    *repeat = std::move(nesting);
    return;
  }
  if (all.size() == most_of_pair) {
    all.erase(all.begin());
    --kept_;
  }
  ++kept_;
  all.push_back(std::move(nesting));
}

// Extends the chain to one whose last thread wants the lock that the first one holds.
bool LockOrder::close(Circle& circle, std::uint32_t& steps) const {
  const auto next = by_held_.find(circle.back()->wanted.lock);
  if (next == by_held_.end() || circle.size() == longest) return false;
  const auto close_by = [&](const std::vector<Nesting>& all) {
    for (const Nesting& each : all) {
      if (steps == 0) return false;
      --steps;
      if (!waits_for(circle.back()->wanted, each.held) ||
          !std::ranges::all_of(circle,
                               [&](const Nesting* other) { return can_meet(*other, each); }))
        continue;
      circle.push_back(&each);
      if (waits_for(each.wanted, circle.front()->held) || close(circle, steps)) return true;
      circle.pop_back();
    }
    return false;
  };
  // The shortest circle first.
  const auto last = next->second.find(circle.front()->held.lock);
  if (last != next->second.end() && close_by(last->second)) return true;
  for (const auto& [wanted, all] : next->second) {
    if (close_by(all)) return true;
    if (steps == 0) return false;
    --steps;
  }
  return false;
}

}  // namespace inflight::check::locks
