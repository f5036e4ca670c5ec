// Waits with a limit in nanoseconds of a clock: the GPU's (PTX ISA, "%globaltimer"), or the host's
// system clock.
#pragma once
#include <inflight/base/config.cuh>

#if !defined(__CUDACC_RTC__)
#  include <ctime>
#  if defined(__linux__)
#    include <sched.h>
#  endif
#endif

namespace inflight::impl {

INFLIGHT_HOST_DEVICE std::uint64_t clock_nanoseconds() {
#if defined(__CUDA_ARCH__)
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
#elif !defined(__CUDACC_RTC__)
  std::timespec now;
  std::timespec_get(&now, TIME_UTC);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
#endif
}

#if !defined(__CUDACC_RTC__)
// For host code that waits: another thread runs in the meantime.
inline void yield_thread() {
#  if defined(__linux__)
  sched_yield();
#  endif
}
#endif

// Converts a duration with a count() and a period, a fraction of a second.
INFLIGHT_CALLS_ARGUMENTS
template <class Duration>
INFLIGHT_HOST_DEVICE std::int64_t nanoseconds(const Duration& time) {
  using period = typename Duration::period;
  if constexpr (period::num == 1 && 1000000000 % period::den == 0)
    return static_cast<std::int64_t>(time.count() * (1000000000 / period::den));
  else
    return static_cast<std::int64_t>(time.count() * (1e9 * period::num / period::den));
}

// Returns whether test() returns true before or at the deadline. It calls test() at least once.
template <class Test>
INFLIGHT_HOST_DEVICE bool test_until(std::int64_t deadline, Test test) {
  while (!test())
    if (static_cast<std::int64_t>(clock_nanoseconds()) >= deadline) return test();
  return true;
}
template <class Test>
INFLIGHT_HOST_DEVICE bool test_for(std::int64_t nanoseconds, Test test) {
  return test_until(static_cast<std::int64_t>(clock_nanoseconds()) + nanoseconds, test);
}

// Tests of a barrier's phase, by token and by parity.
template <class Barrier>
struct token_test {
  const Barrier* of;
  std::uint64_t token;
  INFLIGHT_HOST_DEVICE bool operator()() const { return of->test(token); }
};
template <class Barrier>
struct parity_test {
  const Barrier* of;
  unsigned parity;
  INFLIGHT_HOST_DEVICE bool operator()() const { return of->test_parity(parity); }
};

}  // namespace inflight::impl
