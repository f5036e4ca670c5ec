// The time that a block's threads read with %clock and %globaltimer and that nanosleep waits for.
//
// It counts the ops that the block's warps execute, one cycle each, one after the other. So it is
// the same in every run, and a thread that has seen another's work reads a later time. While warps
// only read the time or sleep, it jumps: a wait for a second does not take a second. While they
// poll memory as well, others may write there at a pace that this block does not know, so the clock
// follows the host's time, as far as the host lets the block poll.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

#include "gpu/host/awake_time.hpp"
#include "gpu/machine/config/launch.hpp"

namespace inflight::machine {

// What warps polled, as bits.
struct Polls {
  static constexpr std::uint8_t memory = 1, time = 2;
};

class Clock {
 public:
  static constexpr std::uint64_t never = ~0ull;

  void start(std::uint64_t cycle) {
    now_ = cycle;
    wake_ = never;
    rounds_ = memory_rounds_ = 0;
  }
  std::uint64_t now() const { return now_; }
  void reach(std::uint64_t cycle) { now_ = std::max(now_, cycle); }

  // A warp's turn took `cycles`.
  void pass(std::uint64_t cycles) { now_ += cycles; }
  // A round of turns made progress.
  void worked() { rounds_ = memory_rounds_ = 0; }
  // In a round, warps only polled what `polls` says. `khz` is the clock rate, `awake` the time of
  // the worker that runs the block.
  void waited(std::uint8_t polls, std::uint32_t khz, host::AwakeTime& awake);
  // Nothing can run until the clock reaches the time at which waits give up by themselves.
  void jump();
  // Does the time jump, or will it in the next round?
  bool jumps() const { return rounds_ >= min_idle_rounds && memory_rounds_ == 0; }
  // Does the block wait for what others write?
  bool waits_for_others() const { return rounds_ != 0 && memory_rounds_ != 0; }

  // A thread sleeps until `cycle`.
  void sleep_until(std::uint64_t cycle) { wake_ = std::min(wake_, cycle); }
  std::uint64_t wake() const { return wake_; }  // the earliest; never: nobody sleeps
  bool due() const { return wake_ <= now_; }
  void clear_sleepers() { wake_ = never; }

 private:
  // Rounds of waiting before the time jumps. Code that only measures itself may read the clock this
  // many times.
  static constexpr std::uint32_t min_idle_rounds = 8;
  std::uint64_t step() const;
  std::uint64_t now_ = first_cycle, wake_ = never;
  std::uint32_t rounds_ = 0;                    // consecutive rounds of waiting
  std::uint32_t memory_rounds_ = 0;             // rounds until a poll of memory is forgotten
  std::uint64_t since_ = 0;                     // when the waiting began
  const host::AwakeTime* awake_ = nullptr;      // of the worker that ran the last round of waiting
  std::chrono::nanoseconds seen_{0}, host_{0};  // what it was then; the host's time since `since_`
};

// Conversions between cycles and nanoseconds of a clock of `khz`.
constexpr std::uint64_t nanoseconds(std::uint64_t cycles, std::uint32_t khz) {
  return cycles / khz * 1000000 + cycles % khz * 1000000 / khz;
}
constexpr std::uint64_t cycles(std::uint64_t nanoseconds, std::uint32_t khz) {
  return nanoseconds / 1000000 * khz + nanoseconds % 1000000 * khz / 1000000;
}

}  // namespace inflight::machine
