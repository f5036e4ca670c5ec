// Barriers in shared memory that threads and copies arrive on: mbarriers.
//
// A barrier counts down the arrivals, and from sm_90 on the bytes of copies, of its current phase;
// when both are used up the phase completes, everyone who waits goes on, and the next phase begins.
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"; CUDA C++
// Programming Guide, "Asynchronous Barrier".
//
//   __shared__ inflight::barrier<> ready;
//   if (threadIdx.x == 0) ready.init(blockDim.x);
//   __syncthreads();
//   auto token = ready.arrive();  // this thread's part is done
//   ...                           // work that needs nobody
//   ready.wait(token);            // everybody's part is done
#pragma once
#include <inflight/impl/mbarrier_wait.cuh>
#include <inflight/impl/timed_wait.cuh>
#include <inflight/ptx/address.cuh>
#include <inflight/ptx/bulk.cuh>
#include <inflight/ptx/cp_async.cuh>
#include <inflight/ptx/mbarrier.cuh>
#include <inflight/thread_scope.cuh>

namespace inflight {

// 8 bytes of shared memory. Trivial: nothing happens until init().
template <thread_scope Scope = thread_scope_block>
class barrier {
  static_assert(
      Scope == thread_scope_block,
      "A barrier lies in a block's shared memory: its scope is thread_scope_block. Blocks of a "
      "cluster arrive with arrive_at(rank); for whole grids see grid_group.");

 public:
  // Tells the phase that an arrival belonged to.
  using arrival_token = std::uint64_t;

  barrier() = default;
  // Made where it is to be, as by placement new: init().
  INFLIGHT_DEVICE explicit barrier(unsigned arrivals) { init(arrivals); }

  // The most arrivals that a phase can have.
  INFLIGHT_HOST_DEVICE static constexpr unsigned max() { return (1u << 20) - 1; }

  // One thread, once, before anyone uses it; a barrier of the block (or cluster) must follow.
  // mbarrier.init and, on sm_90, the fence that shows it to copies and to other blocks.
  INFLIGHT_DEVICE void init(unsigned arrivals) {
    ptx::mbarrier_init(address(), arrivals);
    impl::publish_mbarriers();
  }

  // The memory may be used otherwise. Nobody may be waiting.
  INFLIGHT_DEVICE void invalidate() { ptx::mbarrier_inval(address()); }

  // This thread's part of the phase is done, and what it wrote is seen by those who wait.
  INFLIGHT_DEVICE arrival_token arrive() { return ptx::mbarrier_arrive(address()); }

  // `count` arrivals at once; on sm_80, which has no such instruction, all but the last by one that
  // must not complete the phase.
  INFLIGHT_DEVICE arrival_token arrive(unsigned count) {
    if constexpr (impl::has_sm90<barrier>) return ptx::mbarrier_arrive(address(), count);
    if (count > 1) ptx::mbarrier_arrive_no_complete(address(), count - 1);
    return arrive();
  }

  // Arrives, and takes no part in later phases.
  INFLIGHT_DEVICE void arrive_and_drop() { ptx::mbarrier_arrive_drop(address()); }

  // Arrives in this thread's name once its cp.async copies so far are done. It does not wait, and
  // it publishes the copies only: not what the thread wrote itself.
  INFLIGHT_DEVICE void arrive_on_copies() { ptx::cp_async_mbarrier_arrive_noinc(address()); }

  // Arrives on the barrier at this place in the shared memory of block `rank` of the cluster.
  // sm_90.
  template <class Chip = void>
  INFLIGHT_DEVICE void arrive_at(unsigned rank) {
    impl::require_clusters<Chip>();
    ptx::mbarrier_arrive_remote(address(), rank);
  }

  // Has the token's phase completed? Does not wait.
  INFLIGHT_DEVICE bool test(arrival_token token) const {
    return ptx::mbarrier_test_wait(address(), token);
  }
  INFLIGHT_DEVICE bool test_parity(unsigned parity) const {
    return ptx::mbarrier_test_wait_parity(address(), parity);
  }

  // The same, waiting for so long, a duration, or until then, a time of the GPU's clock, as
  // cuda::std::chrono has them.
  INFLIGHT_DEVICE bool try_wait(arrival_token token) const { return test(token); }
  INFLIGHT_DEVICE bool try_wait_parity(bool parity) const { return test_parity(parity); }
  template <class Duration>
  INFLIGHT_DEVICE bool try_wait_for(arrival_token token, const Duration& time) const {
    return impl::test_for(impl::nanoseconds(time), [&] { return test(token); });
  }
  template <class Duration>
  INFLIGHT_DEVICE bool try_wait_parity_for(bool parity, const Duration& time) const {
    return impl::test_for(impl::nanoseconds(time), [&] { return test_parity(parity); });
  }
  template <class Time>
  INFLIGHT_DEVICE bool try_wait_until(arrival_token token, const Time& time) const {
    return impl::test_until(impl::nanoseconds(time.time_since_epoch()),
                            [&] { return test(token); });
  }
  template <class Time>
  INFLIGHT_DEVICE bool try_wait_parity_until(bool parity, const Time& time) const {
    return impl::test_until(impl::nanoseconds(time.time_since_epoch()),
                            [&] { return test_parity(parity); });
  }

  // Waits until the token's phase has completed.
  INFLIGHT_DEVICE void wait(arrival_token token) const { impl::wait_token(address(), token); }

  // The same for the phase of that parity: 0 for the first, 1 for the second, 0 for the third. For
  // threads that did not arrive themselves; `barrier_phase` keeps the parity for them.
  INFLIGHT_DEVICE void wait_parity(unsigned parity) const { impl::wait_parity(address(), parity); }

  INFLIGHT_DEVICE void arrive_and_wait() { wait(arrive()); }

  // The 64 bits, for ptx:: functions and for copies.
  INFLIGHT_DEVICE std::uint64_t* native() { return &word_; }
  INFLIGHT_DEVICE std::uint32_t address() const { return ptx::shared_address(&word_); }

 private:
  std::uint64_t word_;
};

// Sets a barrier up, as cuda::barrier is: one thread, before a barrier of the block.
template <thread_scope Scope>
INFLIGHT_DEVICE void init(barrier<Scope>* which, unsigned arrivals) {
  which->init(arrivals);
}

// One thread's view of a barrier on which others arrive, or copies: it keeps the parity, so that
// every wait() is for the phase after the last.
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

// One thread's copies of one phase. It counts their bytes while it issues them, so what the barrier
// expects cannot differ from what is copied. The phase must still expect this thread's arrival,
// which is the last call: arrive(). sm_90; one mbarrier.arrive.expect_tx beside the copies.
//
//   inflight::transaction copies(full);
//   copies.load(a, from_a, sizeof a);
//   copies.load(b, from_b, sizeof b);
//   copies.arrive();
class transaction {
 public:
  INFLIGHT_DEVICE explicit transaction(const barrier<>& which) : address_(which.address()) {}
  INFLIGHT_DEVICE explicit transaction(std::uint32_t mbarrier) : address_(mbarrier) {}

  // `bytes` from global to this block's shared memory: multiples of 16, both addresses too.
  template <class Chip = void>
  INFLIGHT_DEVICE void load(void* shared, const void* global, std::uint32_t bytes) {
    impl::require_bulk_copies<Chip>();
    ptx::cp_async_bulk_load(ptx::shared_address(shared), ptx::global_address(global), bytes,
                            address_);
    bytes_ += bytes;
  }

  // The same for a number of bytes that is known when compiled.
  template <std::uint32_t Bytes>
  INFLIGHT_DEVICE void load(void* shared, const void* global) {
    static_assert(Bytes % 16 == 0, "A bulk copy moves a multiple of 16 bytes.");
    load(shared, global, Bytes);
  }

  // A copy that somebody else issues with this barrier (see mbarrier()), say a tensor copy.
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
