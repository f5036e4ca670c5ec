// The clock of a block that waits.
#include "gpu/machine/run/clock.hpp"

namespace inflight::machine {
namespace {

constexpr std::uint64_t longest_step = 1ull << 32;

}  // namespace

// A sixteenth of the wait so far. A wait of any length then takes a few hundred rounds and ends at
// most a sixteenth late.
std::uint64_t Clock::step() const {
  return std::clamp<std::uint64_t>((now_ - since_) / 16, 64, longest_step);
}

void Clock::waited(std::uint8_t polls, std::uint32_t khz, host::AwakeTime& awake) {
  const bool remembered = memory_rounds_ != 0;
  if (polls & Polls::memory)
    memory_rounds_ = min_idle_rounds;
  else if (remembered)
    --memory_rounds_;
  if (remembered != (memory_rounds_ != 0)) rounds_ = 0;  // it now waits for something else
  if (rounds_++ == 0) {
    since_ = now_;
    host_ = std::chrono::nanoseconds{0};
    awake_ = nullptr;
  }
  if (rounds_ < min_idle_rounds) return;
  if (memory_rounds_ != 0) {
    const std::chrono::nanoseconds now = awake.now();
    if (awake_ == &awake) host_ += now - seen_;
    awake_ = &awake, seen_ = now;
    reach(since_ + machine::cycles(static_cast<std::uint64_t>(host_.count()), khz));
  } else {
    const std::uint64_t next = now_ + step();
    now_ = wake_ > now_ ? std::min(next, wake_) : next;
  }
}

void Clock::jump() {
  if (rounds_++ == 0) since_ = now_;
  now_ += step();
}

}  // namespace inflight::machine
