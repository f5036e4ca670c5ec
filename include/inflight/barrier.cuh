// Barriers that threads and copies arrive on: mbarriers in shared memory, and barriers of other
// scopes in ordinary memory.
//
// An mbarrier counts down the arrivals of its current phase and, on sm_90 and later, the bytes of
// its copies. When both counts reach zero, the phase completes, all waiting threads continue, and
// the next phase begins. PTX ISA, "Parallel Synchronization and Communication Instructions:
// mbarrier"; CUDA C++ Programming Guide, "Asynchronous Barrier".
//
//   __shared__ inflight::barrier<> ready;
//   if (threadIdx.x == 0) ready.init(blockDim.x);
//   __syncthreads();
//   auto token = ready.arrive();  // this thread's part is done
//   ...                           // work that needs no other thread
//   ready.wait(token);            // all threads' parts are done
//
// barrier<thread_scope_device>, <thread_scope_system> and <thread_scope_thread> lie in ordinary
// memory, and host code has them too. Copies do not complete on them.
// barrier<thread_scope_block, F> is of that kind too: each phase ends with a call of an F, which
// the last thread to arrive makes before any wait returns.
#pragma once
#include <inflight/impl/copy_policy.cuh>
#include <inflight/impl/counted_barrier.cuh>
#include <inflight/impl/mbarrier_wait.cuh>
#include <inflight/impl/timed_wait.cuh>
#include <inflight/ptx/address.cuh>
#include <inflight/ptx/bulk.cuh>
#include <inflight/ptx/cp_async.cuh>
#include <inflight/ptx/mbarrier.cuh>
#include <inflight/thread_scope.cuh>
#if !defined(__CUDACC_RTC__)
#  include <new>
#endif

namespace inflight {

// In ordinary memory, on host and device. Call init() or a constructor before use.
template <thread_scope Scope = thread_scope_block, class Completion = impl::no_completion>
class barrier : public impl::counted_barrier<Scope, Completion> {
 public:
  using impl::counted_barrier<Scope, Completion>::counted_barrier;
};

// 8 bytes. In shared memory it is an mbarrier, on which copies complete; in other memory and on the
// host it is a counter as those of other scopes. Trivial type: call init() before use.
template <>
class barrier<thread_scope_block, impl::no_completion> {
 public:
  // Identifies the phase that an arrival belongs to.
  using arrival_token = std::uint64_t;

  barrier() = default;
  // For placement new: calls init().
  INFLIGHT_HOST_DEVICE explicit barrier(std::ptrdiff_t arrivals) {
    init(static_cast<unsigned>(arrivals));
  }

  // The most arrivals that a phase can have.
  INFLIGHT_HOST_DEVICE static constexpr unsigned max() { return (1u << 20) - 1; }

// Where the barrier lies is nearly always known at compile time; the test is then gone.
#if defined(__CUDA_ARCH__)
#  define INFLIGHT_IF_MBARRIER(...) \
    if (is_mbarrier()) return __VA_ARGS__
#else
#  define INFLIGHT_IF_MBARRIER(...) static_cast<void>(0)
#endif

  // One thread calls it once before any use, and a barrier of the block (or cluster) must follow.
  // mbarrier.init and, on sm_90, the fence that makes it visible to copies and other blocks.
  INFLIGHT_HOST_DEVICE void init(unsigned arrivals) {
    INFLIGHT_IF_MBARRIER(init_mbarrier(arrivals));
    impl::store_release<thread_scope_block>(&word_, impl::barrier_word::begin(arrivals));
  }

  // Ends the mbarrier's life, so that the memory may be reused. No thread may be waiting.
  INFLIGHT_DEVICE void invalidate() { INFLIGHT_IF_MBARRIER(ptx::mbarrier_inval(address())); }

  // Arrives. What this thread wrote before is visible to the threads that wait for the phase.
  INFLIGHT_HOST_DEVICE arrival_token arrive() {
    INFLIGHT_IF_MBARRIER(ptx::mbarrier_arrive(address()));
    return arrive_elsewhere(1, 0);
  }

  // `count` arrivals at once. sm_80 has no such instruction: there, all but the last arrive with
  // mbarrier.arrive.noComplete, which must not complete the phase.
  INFLIGHT_HOST_DEVICE arrival_token arrive(unsigned count) {
    INFLIGHT_IF_MBARRIER(arrive_on_mbarrier(count));
    return arrive_elsewhere(count, 0);
  }

  // Arrives, and later phases expect one arrival fewer.
  INFLIGHT_HOST_DEVICE void arrive_and_drop() {
    INFLIGHT_IF_MBARRIER(drop_from_mbarrier());
    arrive_elsewhere(1, 1);
  }

  // Arrives on behalf of this thread once the cp.async copies that it has issued so far are done.
  // It does not wait. It makes only the copies visible, not the thread's own writes.
  INFLIGHT_DEVICE void arrive_on_copies() {
    INFLIGHT_IF_MBARRIER(ptx::cp_async_mbarrier_arrive_noinc(address()));
    ptx::cp_async_wait_all();
    arrive_elsewhere(1, 0);
  }

  // Arrives on the barrier at the same offset in the shared memory of block `rank` of the cluster,
  // once or `count` times. That block waits with wait_parity_for_cluster. sm_90.
  template <class Chip = void>
  INFLIGHT_DEVICE void arrive_at(unsigned rank) {
    impl::require_clusters<Chip>();
    ptx::mbarrier_arrive_remote(address(), rank);
  }
  template <class Chip = void>
  INFLIGHT_DEVICE void arrive_at(unsigned rank, unsigned count) {
    impl::require_clusters<Chip>();
    ptx::mbarrier_arrive_remote(address(), rank, count);
  }
  // The same; that phase also waits for `bytes` of copies, which are expected before the arrival.
  template <class Chip = void>
  INFLIGHT_DEVICE void arrive_and_expect_at(unsigned rank, std::uint32_t bytes) {
    impl::require_clusters<Chip>();
    ptx::mbarrier_arrive_expect_tx_remote(address(), rank, bytes);
  }
  // That phase waits for `bytes` of copies; no arrival.
  template <class Chip = void>
  INFLIGHT_DEVICE void expect_at(unsigned rank, std::uint32_t bytes) {
    impl::require_clusters<Chip>();
    ptx::mbarrier_expect_tx_remote(address(), rank, bytes);
  }

  // Whether the token's phase has completed. Does not wait.
  INFLIGHT_HOST_DEVICE bool test(arrival_token token) const {
    INFLIGHT_IF_MBARRIER(ptx::mbarrier_test_wait(address(), token));
    return impl::barrier_word::test<thread_scope_block>(&word_, token);
  }
  INFLIGHT_HOST_DEVICE bool test_parity(unsigned parity) const {
    INFLIGHT_IF_MBARRIER(ptx::mbarrier_test_wait_parity(address(), parity));
    return impl::barrier_word::test_parity<thread_scope_block>(&word_, parity);
  }

  // The same, but try_wait_for waits at most a duration and try_wait_until until a time of the
  // clock; both take cuda::std::chrono or std::chrono types. try_wait does not wait.
  INFLIGHT_HOST_DEVICE bool try_wait(arrival_token token) const { return test(token); }
  INFLIGHT_HOST_DEVICE bool try_wait_parity(bool parity) const { return test_parity(parity); }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Duration>
  INFLIGHT_HOST_DEVICE bool try_wait_for(arrival_token token, const Duration& time) const {
    return impl::test_for(impl::nanoseconds(time), impl::token_test<barrier>{this, token});
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Duration>
  INFLIGHT_HOST_DEVICE bool try_wait_parity_for(bool parity, const Duration& time) const {
    return impl::test_for(impl::nanoseconds(time), impl::parity_test<barrier>{this, parity});
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Time>
  INFLIGHT_HOST_DEVICE bool try_wait_until(arrival_token token, const Time& time) const {
    return impl::test_until(impl::nanoseconds(time.time_since_epoch()),
                            impl::token_test<barrier>{this, token});
  }
  INFLIGHT_CALLS_ARGUMENTS
  template <class Time>
  INFLIGHT_HOST_DEVICE bool try_wait_parity_until(bool parity, const Time& time) const {
    return impl::test_until(impl::nanoseconds(time.time_since_epoch()),
                            impl::parity_test<barrier>{this, parity});
  }

  // Waits until the token's phase has completed.
  INFLIGHT_HOST_DEVICE void wait(arrival_token token) const {
    INFLIGHT_IF_MBARRIER(impl::wait_token(address(), token));
    while (!test(token)) impl::barrier_word::pause();
  }

  // The same for the phase of that parity: 0 for the first phase, 1 for the second, 0 for the
  // third. For threads that did not arrive themselves; `barrier_phase` tracks the parity for them.
  INFLIGHT_HOST_DEVICE void wait_parity(unsigned parity) const {
    INFLIGHT_IF_MBARRIER(impl::wait_parity(address(), parity));
    while (!test_parity(parity)) impl::barrier_word::pause();
  }

  // The same for a phase in which threads of other blocks arrive: what they wrote before is visible
  // too. mbarrier.try_wait.acquire.cluster; sm_90.
  template <class Chip = void>
  INFLIGHT_DEVICE void wait_parity_for_cluster(unsigned parity) const {
    impl::require_clusters<Chip>();
    impl::wait_parity_for_cluster(address(), parity);
  }

  INFLIGHT_HOST_DEVICE void arrive_and_wait() { wait(arrive()); }

#undef INFLIGHT_IF_MBARRIER

  // Whether it lies in shared memory.
  INFLIGHT_DEVICE bool is_mbarrier() const { return __isShared(&word_) != 0; }

  // The mbarrier's 64 bits, for ptx:: functions and for copies.
  INFLIGHT_HOST_DEVICE std::uint64_t* native() { return &word_; }
  INFLIGHT_DEVICE std::uint32_t address() const { return ptx::shared_address(&word_); }

 private:
  INFLIGHT_DEVICE void init_mbarrier(unsigned arrivals) {
    ptx::mbarrier_init(address(), arrivals);
    impl::publish_mbarriers();
  }
  INFLIGHT_DEVICE arrival_token arrive_on_mbarrier(unsigned count) {
    if constexpr (impl::has_sm90<barrier>) return ptx::mbarrier_arrive(address(), count);
    if (count > 1) ptx::mbarrier_arrive_no_complete(address(), count - 1);
    return ptx::mbarrier_arrive(address());
  }
  INFLIGHT_DEVICE void drop_from_mbarrier() { ptx::mbarrier_arrive_drop(address()); }
  INFLIGHT_HOST_DEVICE arrival_token arrive_elsewhere(unsigned count, unsigned drop) {
    impl::no_completion none;
    return impl::barrier_word::arrive<thread_scope_block>(&word_, count, drop, none);
  }

  std::uint64_t word_;
};

// Initialises a barrier, as for cuda::barrier: one thread calls it, before a barrier of the block.
INFLIGHT_HOST_DEVICE void init(barrier<>* which, unsigned arrivals) { which->init(arrivals); }
INFLIGHT_CALLS_ARGUMENTS
template <thread_scope Scope, class Completion>
INFLIGHT_HOST_DEVICE void init(barrier<Scope, Completion>* which, std::ptrdiff_t arrivals,
                               Completion completion = Completion()) {
  new (which) barrier<Scope, Completion>(arrivals, completion);
}

// One thread's view of a barrier on which other threads or copies arrive. It tracks the parity, so
// each wait() is for the next phase.
class barrier_phase {
 public:
  INFLIGHT_DEVICE explicit barrier_phase(const barrier<>& which) : address_(which.address()) {}
  INFLIGHT_DEVICE void wait() {
    impl::wait_parity(address_, parity_);
    parity_ ^= 1;
  }
  INFLIGHT_DEVICE bool test() const { return ptx::mbarrier_test_wait_parity(address_, parity_); }
  INFLIGHT_DEVICE unsigned parity() const { return parity_; }

 private:
  std::uint32_t address_, parity_ = 0;
};

// One thread's copies in one phase. It counts their bytes as it issues them, so the barrier expects
// exactly the bytes that are copied. The phase must still expect this thread's arrival, which the
// last call, arrive(), makes. sm_90; one mbarrier.arrive.expect_tx in addition to the copies.
//
//   inflight::transaction copies(full);
//   copies.load(a, from_a, sizeof a);
//   copies.load(b, from_b, sizeof b);
//   copies.arrive();
class transaction {
 public:
  INFLIGHT_DEVICE explicit transaction(const barrier<>& which) : address_(which.address()) {}
  INFLIGHT_DEVICE explicit transaction(std::uint32_t mbarrier) : address_(mbarrier) {}

  // From global to this block's shared memory. Size and both addresses are multiples of 16.
  // `policy...` is nothing, or an L2 policy (cache_policy.cuh).
  template <class Chip = void, class... Policy>
  INFLIGHT_DEVICE void load(void* shared, const void* global, std::uint32_t bytes,
                            Policy... policy) {
    impl::require_bulk_copies<Chip>();
    impl::require_policy<Policy...>();
    ptx::cp_async_bulk_load(ptx::shared_address(shared), ptx::global_address(global), bytes,
                            address_, policy...);
    bytes_ += bytes;
  }

  // The same for a number of bytes known at compile time.
  template <std::uint32_t Bytes, class... Policy>
  INFLIGHT_DEVICE void load(void* shared, const void* global, Policy... policy) {
    static_assert(Bytes % 16 == 0, "A bulk copy moves a multiple of 16 bytes.");
    load(shared, global, Bytes, policy...);
  }

  // Counts the bytes of a copy that is issued elsewhere on mbarrier(), such as a tensor copy.
  INFLIGHT_DEVICE void expect(std::uint32_t bytes) { bytes_ += bytes; }

  // Expects the bytes of all copies so far and arrives.
  template <class Chip = void>
  INFLIGHT_DEVICE std::uint64_t arrive() {
    impl::require_bulk_copies<Chip>();
    return ptx::mbarrier_arrive_expect_tx(address_, bytes_);
  }

  INFLIGHT_DEVICE std::uint32_t mbarrier() const { return address_; }
  INFLIGHT_DEVICE std::uint32_t bytes() const { return bytes_; }

 private:
  std::uint32_t address_, bytes_ = 0;
};

}  // namespace inflight
