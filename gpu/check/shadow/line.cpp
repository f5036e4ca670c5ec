// Adds accesses to a line, and decides which records they replace.
#include "gpu/check/shadow/line.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "gpu/host/of_this_thread.hpp"

namespace inflight::shadow {
namespace {

constexpr ByteMask whole_line = ByteMask::range(0, line_bytes);

// Whether every access that may be unordered with `now` may also be unordered with `then`.
bool stands_for(const Record& now, const Record& then) {
  if (!now.strong) return true;
  if (!then.strong || !now.same_elements(then) || now.scope > then.scope) return false;
  return now.scope >= static_cast<std::uint8_t>(order::Scope::gpu) ||
         order::block_of(then.row) == order::block_of(now.row);
}

// Two reads never conflict: the later one can at most replace the earlier one. Reads of a block in
// the current epoch are not known to other threads yet, and other blocks of a launch are hardly
// ever ordered after each other. In both cases comparing clocks is not worth the time.
bool skip_comparison(const Record& now, const Record& then) {
  return !now.write && !then.write && !then.same_actors(now) &&
         (order::block_of(then.row) == order::block_of(now.row)
              ? then.epoch == now.epoch
              : order::launch_of(then.row) == order::launch_of(now.row));
}

std::uint32_t launch_number(const Record& r) {
  return static_cast<std::uint32_t>(order::launch_of(r.row)) + 1;
}

template <class List>
void cut(List& list, std::size_t i, ByteMask bytes) {
  Record& r = list[i];
  r.bytes = r.bytes.without(bytes);
  if (r.bytes.any()) return;
  for (; i + 1 < list.size(); ++i) list[i] = list[i + 1];
  list.resize(list.size() - 1);
}

}  // namespace

// The result of comparing an access with the records that share bytes with it.
struct Line::Comparison {
  std::uint32_t kept = 0;    // records of the same kind (read or write) that stay
  Record* beside = nullptr;  // the last of them with exactly the same bytes
  bool in_place = false;     // it has replaced a record with exactly the same bytes
  bool gone = false;         // records were removed
  // Written by removed records that had not observed the one before. So neither has the next.
  ByteMask broken;
  void removed(const Record& then, ByteMask part) {
    if (then.write && !then.chained) broken = broken | part;
  }
  // For the next write there.
  void unchain(Record& next) {
    if (!next.write || !broken.any()) return;
    if (!next.bytes.without(broken).any()) next.chained = false;
    broken = broken.without(next.bytes);
  }
};

template <class F>
void Line::each_list(ByteMask bytes, F f) {
  f(records_);
  if (!by_word_) return;
  for (std::uint64_t w = bytes.words() & by_word_->occupied; w != 0; w &= w - 1)
    f(by_word_->words[static_cast<std::size_t>(std::countr_zero(w))]);
}

template <class List>
ByteMask Line::updated_since(List& list, std::size_t i, const Record& now, const Judge& judge,
                             ByteMask part) {
  ByteMask found, left = part;
  if (const Record& then = list[i]; then.update && then.together) {
    Record last = then;  // it has observed the lanes below
    last.lanes = std::bit_floor(then.lanes);
    if (judge.follows(last, now, part)) return part;
  }
  for (std::size_t j = i + 1; j < list.size() && left.any(); ++j) {
    const Record& next = list[j];
    const ByteMask both = next.write ? left & next.bytes : ByteMask();
    if (!both.any()) continue;
    if (next.chained && !judge.follows(next, now, both)) continue;
    if (next.chained) found = found | both;
    left = left.without(both);  // known, or the chain ends
  }
  return found;
}

void Line::observe(const Record& now, const Judge& judge) {
  ByteMask left, chained;  // not found yet; the newer write there is an update that was observed
  const auto scan = [&](auto& list) {
    for (std::size_t i = list.size(); i-- > 0 && left.any();) {
      const Record& then = list[i];
      const ByteMask both = then.write ? then.bytes & left : ByteMask();
      if (!both.any()) continue;
      ByteMask seen = then.strong ? both : ByteMask();
      if (!then.strong || !judge.morally_strong(then, now)) seen = seen & chained;
      if (seen.any() && !judge.ordered(then, now, seen))
        if (const ByteMask news = seen.without(judge.observed(then, now, seen)); news.any())
          judge.observe(then, now, news);
      left = left.without(then.chained ? both.without(seen) : both);
      chained = chained | seen;
    }
  };
  left = now.bytes;
  if (by_word_) {
    for (std::uint64_t w = now.bytes.words() & by_word_->occupied; w != 0; w &= w - 1)
      scan(by_word_->words[static_cast<std::size_t>(std::countr_zero(w))]);
    left = now.bytes;  // which of the others are newer is not known
  }
  scan(records_);
}

template <class List>
void Line::compare(List& list, const Record& now, const Judge& judge, Comparison& result,
                   std::vector<Conflict>& conflicts) {
  ByteMask stay;  // written by strong writes that stay
  // Those bytes of `part` at which `now` has not observed list[i], a strong write.
  const auto not_observed = [&](std::size_t i, ByteMask part) {
    const Record& then = list[i];
    if (!then.write || !then.strong) return part;
    part = part.without(updated_since(list, i, now, judge, part));
    return part.any() ? part.without(judge.observed(then, now, part)) : part;
  };
  const auto excuse = [&](std::size_t i, ByteMask part, Excuse why) {
    if (part = not_observed(i, part); !part.any()) return;
    Conflict found = judge.explain(list[i], now, part);
    if (found.bytes == 0) return;  // each pair of actors is in order
    found.excuse = why;
    conflicts.push_back(found);
  };
  const auto takes_place = [&](std::size_t i, ByteMask part) {
    const Record& then = list[i];
    const bool pair = then.write || now.write;
    const bool takes = (now.write || (!then.write && judge.may_replace(then, now))) &&
                       (stands_for(now, then) || judge.past(then));
    if ((!pair && !takes) || skip_comparison(now, then)) return false;
    // An update stays while one stays that it has observed.
    const bool ordered = judge.ordered(then, now, part);
    if (ordered && judge.may_lack_fence(then, now) && !judge.fenced(then, now, part)) {
      Conflict found = judge.explain(then, now, part, true);
      found.excuse = Excuse::unfenced_read;
      if (found.bytes != 0) conflicts.push_back(found);
    }
    if (ordered) return takes && !(now.strong && then.chained && (stay & part).any());
    if (!pair) return false;
    if (judge.morally_strong(then, now)) {
      if (judge.of_volatile_data()) excuse(i, part, Excuse::volatile_data);
      return false;
    }
    ByteMask loud = judge.loud(then, now, part);
    if (!(loud == part) && (!loud.any() || judge.ordered(then, now, loud))) {
      excuse(i, part.without(loud), Excuse::same_value);
      return takes;
    }
    if (loud = not_observed(i, loud); !loud.any()) return takes;
    conflicts.push_back(judge.explain(then, now, loud));
    return takes;
  };
  std::size_t left = 0;  // number of records that stay, oldest first
  for (std::size_t i = 0; i < list.size(); ++i) {
    Record& then = list[i];
    const ByteMask part = then.bytes & now.bytes;
    if (part.any()) {
      result.unchain(then);
      if (!takes_place(i, part)) {
        if (then.write && then.strong) stay = stay | part;
        if (then.write == now.write) {
          ++result.kept;
          if (then.bytes == now.bytes) result.beside = &list[left];
        }
      } else if (!result.in_place && then.bytes == now.bytes && !(now.write && now.strong)) {
        then = now;
        result.in_place = true;
      } else {
        result.removed(then, part);
        then.bytes = then.bytes.without(part);
        if (!then.bytes.any()) continue;
      }
    }
    if (left != i) list[left] = then;
    ++left;
  }
  if (left == list.size()) return;
  result.gone = true;
  list.resize(left);
}

std::uint32_t Line::access(const Record& now, const Judge& judge, const Limits& limits,
                           std::vector<Conflict>& conflicts) {
  const bool isolated_read = !now.write && !now.strong && judge.isolated();
  if (isolated_read && is_read_shared(now)) return 0;
  Comparison result;
  const std::size_t before = conflicts.size();
  each_list(now.bytes, [&](auto& list) { compare(list, now, judge, result, conflicts); });
  if (judge.observes()) observe(now, judge);
  if (now.write && (shared_words_ || by_word_))
    note_changed(now.bytes), drop_empty(now.bytes);
  else if (isolated_read && (by_word_ || records_.size() > 1) && conflicts.size() == before)
    note_read_shared(now);
  if (result.in_place) return 0;
  const std::uint32_t limit = now.write ? limits.writers : limits.readers;
  // The usual case: many read the same.
  if (result.kept >= limit && result.beside && !result.gone && !(now.write && now.strong)) {
    *result.beside = now;
    return 1;
  }
  const std::uint32_t forgot = result.kept >= limit ? bound(now, limit - 1) : 0;
  Record added = now;
  result.unchain(added);
  if (!now.together || !extend(added)) add(added);
  return forgot;
}

bool Line::is_read_shared(const Record& now) const {
  if (shared_in_ != launch_number(now)) return false;
  return (now.bytes.words() & ~std::uint64_t{shared_words_}) == 0 ||
         (by_word_ && !now.bytes.without(by_word_->shared).any());
}

void Line::note_read_shared(const Record& now) {
  ByteMask read, written;  // bytes read by other blocks of its launch; written by any
  each_list(now.bytes, [&](auto& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Record& then = list[i];
      if (order::launch_of(then.row) != order::launch_of(now.row)) continue;
      if (then.write)
        written = written | then.bytes;
      else if (order::block_of(then.row) != order::block_of(now.row))
        read = read | then.bytes;
    }
  });
  ByteMask shared = (read & now.bytes).without(written);
  if (!shared.any()) return;
  if (const std::uint32_t launch = launch_number(now); shared_in_ != launch) {
    shared_in_ = launch;
    note_changed(whole_line);
  }
  if (by_word_) shared = by_word_->shared = by_word_->shared | shared;
  shared_words_ |= static_cast<std::uint32_t>(~whole_line.without(shared).words());
}

void Line::note_changed(ByteMask bytes) {
  if (shared_words_) shared_words_ &= ~static_cast<std::uint32_t>(bytes.words());
  if (by_word_) by_word_->shared = by_word_->shared.without(bytes);
}

void Line::drop_empty(ByteMask bytes) {
  if (!by_word_) return;
  for (std::uint64_t w = bytes.words() & by_word_->occupied; w != 0; w &= w - 1)
    if (by_word_->words[static_cast<std::size_t>(std::countr_zero(w))].empty())
      by_word_->occupied &= ~(w & -w);
  if (by_word_->occupied == 0) by_word_.reset();
}

void Line::add(const Record& now) {
  if (by_word_ && by_word_->add(now)) return;
  records_.push_back(now);
  if (!by_word_ && records_.size() > many) index_by_word();
}

bool Line::WordIndex::add(const Record& now) {
  const std::uint64_t in = now.bytes.words();
  if (std::popcount(in) > few) return false;
  occupied |= in;
  Record part = now;
  for (std::uint64_t w = in; w != 0; w &= w - 1) {
    const auto word = static_cast<std::uint32_t>(std::countr_zero(w));
    part.bytes = now.bytes & ByteMask::range(4 * word, 4 * word + 4);
    words[word].push_back(part);
  }
  return true;
}

void Line::index_by_word() {
  by_word_ = std::make_unique<WordIndex>();
  std::size_t left = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (by_word_->add(records_[i])) continue;
    if (left != i) records_[left] = records_[i];
    ++left;
  }
  records_.resize(left);
}

// Merges accesses of the same lanes, epoch and instruction to several elements into one record.
bool Line::extend(const Record& now) {
  if (now.strong || now.async) return false;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    Record& r = records_[i];
    if (!r.together || r.strong || r.async || r.row != now.row || r.lanes != now.lanes ||
        r.epoch != now.epoch || r.place != now.place || r.write != now.write)
      continue;
    r.bytes = r.bytes | now.bytes;
    return true;
  }
  return false;
}

// Keeps only the newest `limit` records of the same kind for each byte of `now`. Returns the number
// of records that were cut.
std::uint32_t Line::bound(const Record& now, std::uint32_t limit) {
  struct Over {
    std::vector<ByteMask> of;  // [n]: bytes with more than n newer records
  };
  std::vector<ByteMask>& over = host::of_this_thread<Over>().of;
  over.assign(limit, {});
  std::uint32_t forgot = 0;
  each_list(now.bytes, [&](auto& list) {
    for (std::size_t i = list.size(); i-- > 0;) {
      if (list[i].write != now.write) continue;
      ByteMask part = list[i].bytes & now.bytes;
      for (ByteMask& each : over) {
        if (!part.any()) break;
        const ByteMask before = each;
        each = each | part;
        part = part & before;
      }
      if (!part.any()) continue;
      ++forgot;
      cut(list, i, part);
    }
  });
  return forgot;
}

void Line::forget(ByteMask bytes) {
  note_changed(bytes);
  each_list(bytes, [&](auto& list) {
    for (std::size_t i = list.size(); i-- > 0;) cut(list, i, bytes);
  });
}

void Line::restamp(order::Row row, unsigned lane, order::Epoch from, order::Epoch to) {
  each_list(whole_line, [&](auto& list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (Record& r = list[i];
          r.row == row && r.together && r.lanes == order::Mask{1} << lane && r.epoch == from)
        r.epoch = to;
  });
}

std::size_t Line::heap_bytes() const {
  std::size_t sum = records_.heap_bytes();
  if (!by_word_) return sum;
  sum += sizeof *by_word_;
  for (const auto& word : by_word_->words) sum += word.capacity() * sizeof(Record);
  return sum;
}

}  // namespace inflight::shadow
