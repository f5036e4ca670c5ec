// Counts the turns of clusters that only poll.
#include "gpu/machine/run/standstill.hpp"

#include <algorithm>

namespace inflight::machine {
namespace {

bool is_in_turn(std::uint64_t turn) { return turn & 1; }

}  // namespace

// `counting_` is cleared before the epoch ends. A cluster that sets it again from then on either
// counts in the new epoch, or sees the new epoch in its next turn.
void Standstill::begin_anew() {
  counting_.store(false);
  std::uint64_t now = standing_.load();
  while (!standing_.compare_exchange_weak(now, (epoch_of(now) + 1) << count_bits)) {
  }
}

// Counts a cluster, unless the epoch is over.
void Standstill::add(std::atomic<std::uint64_t>& word, std::uint64_t epoch) {
  std::uint64_t now = word.load();
  while (epoch_of(now) <= epoch) {
    const std::uint64_t count = epoch_of(now) == epoch ? count_of(now) : 0;
    if (word.compare_exchange_weak(now, epoch << count_bits | (count + 1))) return;
  }
}

bool Standstill::polled(IdleTurns& of, bool polled_time, std::uint64_t time) {
  if (!counting_.load(std::memory_order_relaxed)) counting_.store(true);
  const std::uint64_t now = epoch();
  if (of.epoch != now) of = {.epoch = now, .since = time};
  ++of.turns;
  of.polled_time |= polled_time;
  if (of.turns < many || (of.polled_time && time - of.since < longest_timed_wait)) return false;
  if (!of.stands) add(standing_, now);
  return of.stands = true;
}

Standstill::Next Standstill::next(const IdleTurns& of, std::uint64_t live) const {
  const auto all = [&](const std::atomic<std::uint64_t>& word) {
    const std::uint64_t now = word.load();
    return epoch_of(now) == of.epoch && count_of(now) >= live;
  };
  if (!all(standing_)) return Next::go_on;
  if (!of.flushed) return Next::flush;
  return all(flushed_) ? Next::stands : Next::go_on;
}

void Standstill::flushed(IdleTurns& of) {
  if (!of.flushed) add(flushed_, of.epoch);
  of.flushed = true;
}

void PollingPatience::turn(std::uint64_t epoch, std::chrono::nanoseconds awake) {
  if (epoch_ != epoch) {
    epoch_ = epoch;
    turns_ = 0, ask_at_ = long_enough;
    since_ = awake;
    in_turns_.clear();
  }
  ++turns_;
  awake_ = awake;
}

bool PollingPatience::over(std::span<const std::uint64_t> turns) {
  if (!due()) return false;
  if (in_turns_.empty()) {
    in_turns_.assign(turns.begin(), turns.end());
    asked_after_ = awake_ - since_;
  }
  for (std::size_t i = 0; i < in_turns_.size(); ++i)
    if (is_in_turn(in_turns_[i]) && turns[i] == in_turns_[i]) return false;
  return true;
}

}  // namespace inflight::machine
