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
                                                Completion completion = Completion()) {
    init(arrivals, completion);
  }

  // The most arrivals that a phase can have.
  INFLIGHT_HOST_DEVICE static constexpr std::ptrdiff_t max() { return 0x7fffffff; }

  // One thread calls it before any use, and the others must know that it has.
  INFLIGHT_CALLS_ARGUMENTS
  INFLIGHT_HOST_DEVICE void init(std::ptrdiff_t arrivals, Completion completion = Completion()) {
    expected_.store_release(static_cast<std::uint32_t>(arrivals));
    pending_.store_release(static_cast<std::uint32_t>(arrivals));
    phase_.store_release(0);
    completion_ = completion;
  }

  // `count` arrivals at once.
  INFLIGHT_CALLS_ARGUMENTS
  INFLIGHT_HOST_DEVICE arrival_token arrive(std::ptrdiff_t count = 1) {
    const std::uint32_t phase = phase_.load_relaxed();
    const auto arrivals = static_cast<std::uint32_t>(count);
    if (pending_.subtract_acq_rel(arrivals) == arrivals) {
      completion_();
      pending_.store_release(expected_.load_relaxed());
      phase_.store_release(phase + 1);
    }
    return phase;
  }

  // Arrives, and later phases expect one arrival fewer.
  INFLIGHT_CALLS_ARGUMENTS
  INFLIGHT_HOST_DEVICE void arrive_and_drop() {
    expected_.subtract_relaxed(1);
    arrive();
  }

  // Whether the phase has completed: the token's, or that of a parity, 0 for the first. Neither
  // these nor try_wait wait.
  INFLIGHT_HOST_DEVICE bool test(arrival_token token) const {
    return phase_.load_acquire() != static_cast<std::uint32_t>(token);
  }
  INFLIGHT_HOST_DEVICE bool test_parity(unsigned parity) const {
    return (phase_.load_acquire() & 1) != parity;
  }
  INFLIGHT_HOST_DEVICE bool try_wait(arrival_token token) const { return test(token); }
  INFLIGHT_HOST_DEVICE bool try_wait_parity(bool parity) const { return test_parity(parity); }

  // The same, but waits at most a duration, or until a time of the clock; both are
  // std::chrono or cuda::std::chrono types.
  INFLIGHT_CALLS_ARGUMENTS
  template <class Duration>
  INFLIGHT_HOST_DEVICE bool try_wait_for(arrival_token token, const Duration& time) const {
    return test_for(nanoseconds(time), token_test{this, token});
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Duration>
  INFLIGHT_HOST_DEVICE bool try_wait_parity_for(bool parity, const Duration& time) const {
    return test_for(nanoseconds(time), parity_test{this, parity});
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Time>
  INFLIGHT_HOST_DEVICE bool try_wait_until(arrival_token token, const Time& time) const {
    return test_until(nanoseconds(time.time_since_epoch()), token_test{this, token});
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Time>
  INFLIGHT_HOST_DEVICE bool try_wait_parity_until(bool parity, const Time& time) const {
    return test_until(nanoseconds(time.time_since_epoch()), parity_test{this, parity});
  }

  // Waits until the phase has completed.
  INFLIGHT_HOST_DEVICE void wait(arrival_token token) const {
    while (!test(token)) pause();
  }
  INFLIGHT_HOST_DEVICE void wait_parity(unsigned parity) const {
    while (!test_parity(parity)) pause();
  }
  INFLIGHT_CALLS_ARGUMENTS
  INFLIGHT_HOST_DEVICE void arrive_and_wait() { wait(arrive()); }

 private:
  struct token_test {
    const counted_barrier* of;
    arrival_token token;
    INFLIGHT_HOST_DEVICE bool operator()() const { return of->test(token); }
  };
  struct parity_test {
    const counted_barrier* of;
    unsigned parity;
    INFLIGHT_HOST_DEVICE bool operator()() const { return of->test_parity(parity); }
  };
  // Leaves the processor to the threads that are waited for.
  INFLIGHT_HOST_DEVICE static void pause() {
#if defined(__CUDA_ARCH__)
    __nanosleep(20);
#else
    yield_thread();
#endif
  }

  scoped_counter<Scope> expected_, pending_, phase_;
  Completion completion_;
};

}  // namespace inflight::impl
