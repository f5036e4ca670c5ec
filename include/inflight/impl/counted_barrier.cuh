// A barrier in ordinary memory: for scopes that no mbarrier has, for the host, and for phases that
// end with a function.
#pragma once
#include <inflight/impl/scoped_counter.cuh>
#include <inflight/impl/timed_wait.cuh>

namespace inflight::impl {

// The completion function of barriers that have none.
struct no_completion {
  INFLIGHT_HOST_DEVICE void operator()() const {}
};

// The state of such a barrier is one word: in bit 63 the parity of the current phase, below it the
// arrivals that this phase lacks, and in the low half the arrivals that the next one expects.
namespace barrier_word {

inline constexpr std::uint64_t parity_bit = std::uint64_t(1) << 63;
inline constexpr std::uint64_t most_arrivals = 0x7fffffff;

INFLIGHT_HOST_DEVICE constexpr std::uint64_t begin(std::uint64_t expected) {
  return expected << 32 | expected;
}

// Makes `count` arrivals, and lets later phases expect `drop` fewer. The last arrival of a phase
// calls `completion` and begins the next. Returns the word before, which is the arrival's token.
INFLIGHT_CALLS_ARGUMENTS
template <thread_scope Scope, class Completion>
INFLIGHT_HOST_DEVICE std::uint64_t arrive(std::uint64_t* word, std::uint64_t count,
                                          std::uint64_t drop, Completion& completion) {
  const std::uint64_t before = add_acq_rel<Scope>(word, 0 - (count << 32 | drop));
  if ((before >> 32 & most_arrivals) == count) {
    completion();
    const std::uint64_t parity = ~before & parity_bit;
    store_release<Scope>(word, parity | begin((before & most_arrivals) - drop));
  }
  return before;
}

// Whether the phase of the token, or of a parity, has completed.
template <thread_scope Scope>
INFLIGHT_HOST_DEVICE bool test(const std::uint64_t* word, std::uint64_t token) {
  return ((load_acquire<Scope>(word) ^ token) & parity_bit) != 0;
}
template <thread_scope Scope>
INFLIGHT_HOST_DEVICE bool test_parity(const std::uint64_t* word, unsigned parity) {
  return (load_acquire<Scope>(word) >> 63) != parity;
}

// Leaves the processor to the threads that are waited for.
INFLIGHT_HOST_DEVICE void pause() {
#if defined(__CUDA_ARCH__)
  __nanosleep(20);
#else
  yield_thread();
#endif
}

}  // namespace barrier_word

// The threads of `Scope` arrive. The last arrival of a phase calls `Completion`, and then the next
// phase begins: whoever waited sees what all did before they arrived, and what the function did.
template <thread_scope Scope, class Completion>
class counted_barrier {
 public:
  // Identifies the phase that an arrival belongs to.
  using arrival_token = std::uint64_t;

  counted_barrier() = default;
  INFLIGHT_CALLS_ARGUMENTS
  INFLIGHT_HOST_DEVICE explicit counted_barrier(std::ptrdiff_t arrivals,
                                                Completion completion = Completion())
      : completion_(completion) {
    store_release<Scope>(&word_, barrier_word::begin(static_cast<std::uint64_t>(arrivals)));
  }
  counted_barrier(const counted_barrier&) = delete;
  counted_barrier& operator=(const counted_barrier&) = delete;

  // The most arrivals that a phase can have.
  INFLIGHT_HOST_DEVICE static constexpr std::ptrdiff_t max() {
    return static_cast<std::ptrdiff_t>(barrier_word::most_arrivals);
  }

  // `count` arrivals at once.
  INFLIGHT_CALLS_ARGUMENTS
  INFLIGHT_HOST_DEVICE arrival_token arrive(std::ptrdiff_t count = 1) {
    return barrier_word::arrive<Scope>(&word_, static_cast<std::uint64_t>(count), 0, completion_);
  }

  // Arrives, and later phases expect one arrival fewer.
  INFLIGHT_CALLS_ARGUMENTS
  INFLIGHT_HOST_DEVICE void arrive_and_drop() {
    barrier_word::arrive<Scope>(&word_, 1, 1, completion_);
  }

  // Whether the phase has completed: the token's, or that of a parity, 0 for the first. Neither
  // these nor try_wait wait.
  INFLIGHT_HOST_DEVICE bool test(arrival_token token) const {
    return barrier_word::test<Scope>(&word_, token);
  }
  INFLIGHT_HOST_DEVICE bool test_parity(unsigned parity) const {
    return barrier_word::test_parity<Scope>(&word_, parity);
  }
  INFLIGHT_HOST_DEVICE bool try_wait(arrival_token token) const { return test(token); }
  INFLIGHT_HOST_DEVICE bool try_wait_parity(bool parity) const { return test_parity(parity); }

  // The same, but waits at most a duration, or until a time of the clock; both are
  // std::chrono or cuda::std::chrono types.
  INFLIGHT_CALLS_ARGUMENTS
  template <class Duration>
  INFLIGHT_HOST_DEVICE bool try_wait_for(arrival_token token, const Duration& time) const {
    return test_for(nanoseconds(time), token_test<counted_barrier>{this, token});
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Duration>
  INFLIGHT_HOST_DEVICE bool try_wait_parity_for(bool parity, const Duration& time) const {
    return test_for(nanoseconds(time), parity_test<counted_barrier>{this, parity});
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Time>
  INFLIGHT_HOST_DEVICE bool try_wait_until(arrival_token token, const Time& time) const {
    return test_until(nanoseconds(time.time_since_epoch()),
                      token_test<counted_barrier>{this, token});
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Time>
  INFLIGHT_HOST_DEVICE bool try_wait_parity_until(bool parity, const Time& time) const {
    return test_until(nanoseconds(time.time_since_epoch()),
                      parity_test<counted_barrier>{this, parity});
  }

  // Waits until the phase has completed.
  INFLIGHT_HOST_DEVICE void wait(arrival_token token) const {
    while (!test(token)) barrier_word::pause();
  }
  INFLIGHT_HOST_DEVICE void wait_parity(unsigned parity) const {
    while (!test_parity(parity)) barrier_word::pause();
  }
  INFLIGHT_CALLS_ARGUMENTS
  INFLIGHT_HOST_DEVICE void arrive_and_wait() { wait(arrive()); }

 private:
  std::uint64_t word_;
  Completion completion_;
};

}  // namespace inflight::impl
