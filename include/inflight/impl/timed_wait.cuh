// Waits with a limit in nanoseconds of the GPU's clock: PTX ISA, "%globaltimer".
#pragma once
#include <inflight/base/config.cuh>

namespace inflight::impl {

INFLIGHT_DEVICE std::uint64_t clock_nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

// Converts a duration with a count() and a period, a fraction of a second.
template <class Duration>
INFLIGHT_DEVICE std::int64_t nanoseconds(const Duration& time) {
  using period = typename Duration::period;
  if constexpr (period::num == 1 && 1000000000 % period::den == 0)
    return static_cast<std::int64_t>(time.count() * (1000000000 / period::den));
  else
    return static_cast<std::int64_t>(time.count() * (1e9 * period::num / period::den));
}

// Returns whether test() returns true before or at the deadline. It calls test() at least once.
template <class Test>
INFLIGHT_DEVICE bool test_until(std::int64_t deadline, Test test) {
  while (!test())
    if (static_cast<std::int64_t>(clock_nanoseconds()) >= deadline) return test();
  return true;
}
template <class Test>
INFLIGHT_DEVICE bool test_for(std::int64_t nanoseconds, Test test) {
  return test_until(static_cast<std::int64_t>(clock_nanoseconds()) + nanoseconds, test);
}

}  // namespace inflight::impl
