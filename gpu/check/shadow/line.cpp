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
         order::block_of(now.row) == order::block_of(then.row);
}

}  // namespace

void Line::push(const Record& r) {
  if (count_ >= inside) {
    if (!more_) more_ = std::make_unique<std::vector<Record>>();
    more_->push_back(r);
  } else {
    first_[count_] = r;
  }
  ++count_;
}

// Keeps the order, so that the oldest stays first.
void Line::remove(std::uint32_t i) {
  for (; i + 1 < count_; ++i) at(i) = at(i + 1);
  if (--count_ < inside)
    more_.reset();
  else
    more_->pop_back();
}

// Gives whether the record is gone.
bool Line::cut(std::uint32_t i, std::uint32_t from, std::uint32_t to) {
  Record& r = at(i);
  if (r.begin >= from && r.end <= to) {
    remove(i);
    return true;
  }
  if (r.begin < from && r.end > to) {
    Record rest = r;
    rest.begin = static_cast<std::uint8_t>(to);
    r.end = static_cast<std::uint8_t>(from);
    push(rest);  // r is gone
  } else if (r.begin < from) {
    r.end = static_cast<std::uint8_t>(from);
  } else {
    r.begin = static_cast<std::uint8_t>(to);
  }
  return false;
}

std::uint32_t Line::access(const Record& now, const Judge& judge, const Limits& limits,
                           std::vector<Conflict>& conflicts) {
  std::uint32_t kept = 0, beside = none;  // the last kept one of now's kind that has its bytes
  bool in_place = false;
  std::uint32_t gone = 0;
  const std::uint32_t before = count_;  // what cut() adds is of no more interest
  for (std::uint32_t n = 0; n < before; ++n) {
    const std::uint32_t i = n - gone;
    Record& then = at(i);
    const std::uint32_t from = std::max(then.begin, now.begin);
    const std::uint32_t to = std::min(then.end, now.end);
    if (from >= to) continue;
    const bool pair = then.write || now.write;
    const bool takes = (now.write || !then.write) && stands_for(now, then);
    const auto keep = [&] {
      if (then.write != now.write) return;
      ++kept;
      if (then.begin == now.begin && then.end == now.end) beside = i;
    };
    if (!pair && !takes) {
      keep();
      continue;
    }
    // Two reads do each other no harm, and the later one may only take the other's place. What a
    // block's threads read in one epoch is known to nobody else yet, and other blocks of the launch
    // hardly ever know of it: not worth a look at their clocks.
    if (!pair && !then.same_actors(now) &&
        (order::block_of(then.row) == order::block_of(now.row)
             ? then.epoch == now.epoch
             : order::launch_of(then.row) == order::launch_of(now.row))) {
      keep();
      continue;
    }
    bool replace = judge.ordered(then, now, from, to);
    if (!replace && pair && !judge.morally_strong(then, now)) {
      conflicts.push_back(judge.explain(then, now, from, to));
      replace = true;
    }
    if (!replace || !takes) {
      keep();
      continue;
    }
    if (!in_place && then.begin == now.begin && then.end == now.end) {
      then = now;
      in_place = true;
    } else if (cut(i, from, to)) {
      ++gone;
    }
  }
  const std::uint32_t limit = now.write ? limits.writers : limits.readers;
  if (in_place) return 0;
  if (kept >= limit && beside != none && gone == 0) {  // the usual case: many read the same
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
    if (r.end != now.begin && r.begin != now.end) continue;
    r.begin = std::min(r.begin, now.begin), r.end = std::max(r.end, now.end);
    return true;
  }
  return false;
}

// Leaves at most `limit` records of the same kind over each byte of `now`, the newest.
std::uint32_t Line::bound(const Record& now, std::uint32_t limit) {
  std::array<std::uint8_t, line_bytes> over{};
  std::uint32_t forgot = 0;
  for (std::uint32_t i = count_; i-- > 0;) {
    if (at(i).write != now.write) continue;
    const std::uint32_t end = std::min(at(i).end, now.end);
    for (std::uint32_t b = std::max(at(i).begin, now.begin); b < end;) {
      if (over[b]++ < limit) {
        ++b;
        continue;
      }
      std::uint32_t stop = b + 1;
      while (stop < end && over[stop] >= limit) ++stop;
      ++forgot;
      if (cut(i, b, stop)) break;
      // What is right of the hole stands at the end of the list: older than it looks, no matter.
      if (at(i).end <= b) break;
      b = stop;
    }
  }
  return forgot;
}

void Line::forget(std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t i = count_; i-- > 0;) {
    const std::uint32_t from = std::max<std::uint32_t>(at(i).begin, begin);
    const std::uint32_t to = std::min<std::uint32_t>(at(i).end, end);
    if (from < to) cut(i, from, to);
  }
}

void Line::restamp(order::Row row, unsigned lane, order::Epoch from, order::Epoch to) {
  for (std::uint32_t i = 0; i < count_; ++i)
    if (Record& r = at(i);
        r.row == row && r.together && r.lanes == order::Mask{1} << lane && r.epoch == from)
      r.epoch = to;
}

}  // namespace inflight::shadow
