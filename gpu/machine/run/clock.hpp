// The time that a block's threads read: %clock, %globaltimer and what nanosleep waits for.
//
// It counts what the block's warps execute, a cycle an op, one after the other: what a thread does
// once it has seen another's work is later than that. So it is the same in every run. Where warps
// do nothing but look at the time or sleep, it jumps: a wait for a second takes no second. Where
// they look at memory as well, somebody else may write there, at a pace that this block does not
// know: then it follows the host's time.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

#include "gpu/machine/config/launch.hpp"

namespace inflight::machine {

// What warps looked at that may be part of a spin: bits.
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

  // A warp's turn took so many.
  void pass(std::uint64_t cycles) { now_ += cycles; }
  // A round of turns brought the block forward.
  void worked() { rounds_ = memory_rounds_ = 0; }
  // In this one, warps only looked at what `polls` says; a cycle takes a `khz`-th of a millisecond.
  void waited(std::uint8_t polls, std::uint32_t khz);
  // Nothing at all can run until the time has come at which waits give up by themselves.
  void jump();
  // Does the time jump, or would it in the next round?
  bool jumps() const { return rounds_ >= patience && memory_rounds_ == 0; }
  // Does it wait for what others write?
  bool waits_for_others() const { return rounds_ != 0 && memory_rounds_ != 0; }

  // Sleepers: somebody sleeps until `cycle`.
  void sleep_until(std::uint64_t cycle) { wake_ = std::min(wake_, cycle); }
  std::uint64_t wake() const { return wake_; }  // the next one's; never: nobody sleeps
  bool due() const { return wake_ <= now_; }
  void clear_sleepers() { wake_ = never; }

 private:
  // Rounds of waiting before the time jumps: code that measures itself may read the clock as often.
  static constexpr std::uint32_t patience = 8;
  std::uint64_t step() const;
  std::uint64_t now_ = first_cycle, wake_ = never;
  std::uint32_t rounds_ = 0;         // of waiting, in a row
  std::uint32_t memory_rounds_ = 0;  // until it is forgotten that memory was looked at
  std::uint64_t since_ = 0;          // when the waiting began
  std::chrono::steady_clock::time_point host_since_;
};

// Cycles and nanoseconds of a clock of `khz`.
constexpr std::uint64_t nanoseconds(std::uint64_t cycles, std::uint32_t khz) {
  return cycles / khz * 1000000 + cycles % khz * 1000000 / khz;
}
constexpr std::uint64_t cycles(std::uint64_t nanoseconds, std::uint32_t khz) {
  return nanoseconds / 1000000 * khz + nanoseconds % 1000000 * khz / 1000000;
}

}  // namespace inflight::machine
