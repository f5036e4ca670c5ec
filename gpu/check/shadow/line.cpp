// How accesses replace each other in a line.
#include "gpu/check/shadow/line.hpp"

#include <algorithm>

namespace inflight::shadow {
namespace {

constexpr std::uint32_t none = 0xffffffff;

// Whoever may meet `now` without order may also meet `then`.
bool stands_for(const Record& now, const Record& then) {
  if (!now.strong) return true;
  if (!then.strong || !now.same_elements(then) || now.scope > then.scope) return false;
  return now.scope >= static_cast<std::uint8_t>(order::Scope::gpu) ||
         order::block_of(then.row) == order::block_of(now.row);
}

// Two reads do each other no harm, and the later one may only take the other's place. What a
// block's threads read in one epoch is known to nobody else yet, and other blocks of the launch
// hardly ever know of it: not worth a look at their clocks.
bool not_worth_asking(const Record& now, const Record& then) {
  return !now.write && !then.write && !then.same_actors(now) &&
         (order::block_of(then.row) == order::block_of(now.row)
              ? then.epoch == now.epoch
              : order::launch_of(then.row) == order::launch_of(now.row));
}

}  // namespace

void Line::push(const Record& r) {
  if (count_ < inside) {
    first_[count_++] = r;
    return;
  }
  if (!more_) more_ = std::make_unique<std::vector<Record>>();
  more_->push_back(r);
  ++count_;
}

// Keeps the first `count`.
void Line::shrink(std::uint32_t count) {
  if (count_ > inside) more_->resize(std::max(count, inside) - inside);
  count_ = count;
}

std::uint32_t Line::access(const Record& now, const Judge& judge, const Limits& limits,
                           std::vector<Conflict>& conflicts) {
  // Kept ones of now's kind that share bytes with it, and the last of exactly its bytes.
  std::uint32_t kept = 0, beside = none;
  std::uint32_t left = 0;  // records that stay, in their order: the oldest first
  bool in_place = false;
  const auto takes_place = [&](Record& then, ByteMask part) {
    const bool pair = then.write || now.write;
    const bool takes = (now.write || !then.write) && stands_for(now, then);
    if ((!pair && !takes) || not_worth_asking(now, then)) return false;
    if (judge.ordered(then, now, part)) return takes;
    if (!pair || judge.morally_strong(then, now)) return false;
    conflicts.push_back(judge.explain(then, now, part));
    return takes;
  };
  for (std::uint32_t i = 0; i < count_; ++i) {
    Record& then = at(i);
    const ByteMask part = then.bytes & now.bytes;
    if (part.any()) {
      if (!takes_place(then, part)) {
        if (then.write == now.write) {
          ++kept;
          if (then.bytes == now.bytes) beside = left;
        }
      } else if (!in_place && then.bytes == now.bytes) {
        then = now;
        in_place = true;
      } else {
        then.bytes = then.bytes.without(part);
        if (!then.bytes.any()) continue;
      }
    }
    if (left != i) at(left) = then;
    ++left;
  }
  const bool gone = left != count_;
  if (gone) shrink(left);
  if (in_place) return 0;
  const std::uint32_t limit = now.write ? limits.writers : limits.readers;
  if (kept >= limit && beside != none && !gone) {  // the usual case: many read the same
    at(beside) = now;
    return 1;
  }
  const std::uint32_t forgot = kept >= limit ? bound(now, limit - 1) : 0;
  if (!extend(now)) push(now);
  return forgot;
}

// Lanes that read one element after the other leave one record, not one an element.
bool Line::extend(const Record& now) {
  if (!now.together || now.strong || now.async) return false;
  for (std::uint32_t i = 0; i < count_; ++i) {
    Record& r = at(i);
    if (!r.together || r.strong || r.async || r.row != now.row || r.lanes != now.lanes ||
        r.epoch != now.epoch || r.place != now.place || r.write != now.write)
      continue;
    r.bytes = r.bytes | now.bytes;
    return true;
  }
  return false;
}

// Leaves at most `limit` records of the same kind over each byte of `now`, the newest.
std::uint32_t Line::bound(const Record& now, std::uint32_t limit) {
  std::vector<ByteMask> over(std::min(limit, count_));  // [n]: bytes of more than n newer ones
  std::uint32_t forgot = 0;
  for (std::uint32_t i = count_; i-- > 0;) {
    if (at(i).write != now.write) continue;
    ByteMask part = at(i).bytes & now.bytes;
    for (ByteMask& each : over) {
      const ByteMask before = each;
      each = each | part;
      part = part & before;
    }
    if (!part.any()) continue;
    ++forgot;
    cut(i, part);
  }
  return forgot;
}

void Line::cut(std::uint32_t i, ByteMask bytes) {
  Record& r = at(i);
  r.bytes = r.bytes.without(bytes);
  if (r.bytes.any()) return;
  for (; i + 1 < count_; ++i) at(i) = at(i + 1);
  shrink(count_ - 1);
}

void Line::forget(ByteMask bytes) {
  for (std::uint32_t i = count_; i-- > 0;) cut(i, bytes);
}

void Line::restamp(order::Row row, unsigned lane, order::Epoch from, order::Epoch to) {
  for (std::uint32_t i = 0; i < count_; ++i)
    if (Record& r = at(i);
        r.row == row && r.together && r.lanes == order::Mask{1} << lane && r.epoch == from)
      r.epoch = to;
}

}  // namespace inflight::shadow
