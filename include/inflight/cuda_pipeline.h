// CUDA's C names for one thread's pipeline and for mbarriers. Programs include it in place of
// <cuda_pipeline.h>, <cuda_pipeline_primitives.h> or <cuda_awbarrier_primitives.h>. CUDA C++
// Programming Guide, "Pipeline Primitives Interface" and "Memory Barrier Primitives Interface".
//
// Each function is one instruction if its sizes and counts are constants. inflight.cuh does not
// include this header, because its names are global and CUDA's own headers define the same ones.
#pragma once
#if defined(_CUDA_PIPELINE_H_) || defined(_CUDA_PIPELINE_PRIMITIVES_H_) || \
    defined(_CUDA_AWBARRIER_PRIMITIVES_H_)
#  error \
      "CUDA's cuda_pipeline.h (or cuda_awbarrier.h) is included before <inflight/cuda_pipeline.h>, and both define the same names: include one of them. Cooperative groups' memcpy_async.h includes CUDA's."
#endif
#include <inflight/pipeline_primitives.cuh>

// An mbarrier's 64 bits in shared memory, and a token for a phase; barrier<>::native() is such a
// pointer.
using __mbarrier_t = std::uint64_t;
using __mbarrier_token_t = std::uint64_t;

// --- one thread's pipeline ---

// Copies 4, 8 or 16 bytes from global to shared memory; both addresses are multiples of that size.
// cp.async.
static INFLIGHT_DEVICE void __pipeline_memcpy_async(void* dst_shared, const void* src_global,
                                                    std::size_t size_and_align) {
  inflight::pipeline_memcpy_async(dst_shared, src_global, size_and_align);
}

// The same; the last `zfill` bytes are not read but filled with zeros.
static INFLIGHT_DEVICE void __pipeline_memcpy_async(void* dst_shared, const void* src_global,
                                                    std::size_t size_and_align, std::size_t zfill) {
  inflight::pipeline_memcpy_async(dst_shared, src_global, size_and_align, zfill);
}

// Commits the batch of this thread's copies. cp.async.commit_group.
static INFLIGHT_DEVICE void __pipeline_commit() { inflight::pipeline_commit(); }

// Waits for all batches but the `prior` newest. cp.async.wait_group; see pipeline_wait_prior.
static INFLIGHT_DEVICE void __pipeline_wait_prior(std::size_t prior) {
  inflight::pipeline_wait_prior(prior);
}

// The barrier's phase also waits for this thread's copies so far. The expected count of arrivals
// does not change. cp.async.mbarrier.arrive.
static INFLIGHT_DEVICE void __pipeline_arrive_on(__mbarrier_t* bar) {
  inflight::pipeline_arrive_on(bar);
}

// --- mbarriers ---

// The most arrivals that a phase can have.
static INFLIGHT_HOST_DEVICE constexpr std::uint32_t __mbarrier_maximum_count() {
  return inflight::barrier<>::max();
}

// One thread calls it, before a barrier of the block. Executes mbarrier.init only: where sm_90
// copies complete on it, a fence must follow (barrier<>::init has it).
static INFLIGHT_DEVICE void __mbarrier_init(__mbarrier_t* bar, std::uint32_t expected_count) {
  inflight::ptx::mbarrier_init(inflight::ptx::shared_address(bar), expected_count);
}

// Ends the mbarrier's life, so that the memory may be reused. mbarrier.inval.
static INFLIGHT_DEVICE void __mbarrier_inval(__mbarrier_t* bar) {
  inflight::ptx::mbarrier_inval(inflight::ptx::shared_address(bar));
}

// Arrives on the current phase. mbarrier.arrive.
static INFLIGHT_DEVICE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* bar) {
  return inflight::ptx::mbarrier_arrive(inflight::ptx::shared_address(bar));
}

// The same, and later phases expect one arrival fewer. mbarrier.arrive_drop.
static INFLIGHT_DEVICE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* bar) {
  return inflight::ptx::mbarrier_arrive_drop(inflight::ptx::shared_address(bar));
}

// Whether the token's phase has completed. Does not wait. mbarrier.test_wait.
static INFLIGHT_DEVICE bool __mbarrier_test_wait(const __mbarrier_t* bar,
                                                 __mbarrier_token_t token) {
  return inflight::ptx::mbarrier_test_wait(inflight::ptx::shared_address(bar), token);
}

// The same for the phase of that parity: false for the first, true for the second.
static INFLIGHT_DEVICE bool __mbarrier_test_wait_parity(const __mbarrier_t* bar,
                                                        bool phase_parity) {
  return inflight::ptx::mbarrier_test_wait_parity(inflight::ptx::shared_address(bar), phase_parity);
}

// The same, but waits for the phase for at most `max_sleep_nanosec`. sm_90; mbarrier.try_wait.
template <class Device = void>
static INFLIGHT_DEVICE bool __mbarrier_try_wait(const __mbarrier_t* bar, __mbarrier_token_t token,
                                                std::uint32_t max_sleep_nanosec) {
  static_assert(inflight::impl::has_sm90<Device>,
                "__mbarrier_try_wait needs sm_90; on sm_80 call __mbarrier_test_wait.");
  std::uint32_t done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(inflight::ptx::shared_address(bar)), "l"(token), "r"(max_sleep_nanosec)
      : "memory");
  return done;
}
template <class Device = void>
static INFLIGHT_DEVICE bool __mbarrier_try_wait_parity(const __mbarrier_t* bar, bool phase_parity,
                                                       std::uint32_t max_sleep_nanosec) {
  static_assert(
      inflight::impl::has_sm90<Device>,
      "__mbarrier_try_wait_parity needs sm_90; on sm_80 call __mbarrier_test_wait_parity.");
  return inflight::ptx::mbarrier_try_wait_parity_for(inflight::ptx::shared_address(bar),
                                                     phase_parity, max_sleep_nanosec);
}

// The arrivals that were pending when the token was made. mbarrier.pending_count.
static INFLIGHT_DEVICE std::uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) {
  return inflight::ptx::mbarrier_pending_count(token);
}
