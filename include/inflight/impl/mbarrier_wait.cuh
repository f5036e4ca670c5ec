// Waits on an mbarrier: a loop of two instructions. On sm_90, try_wait may suspend the thread
// between tries.
#pragma once
#include <inflight/ptx/fence.cuh>
#include <inflight/ptx/mbarrier.cuh>

namespace inflight::impl {

// A label in braces is local to them, so the loop may be inlined many times.
INFLIGHT_DEVICE void wait_parity(std::uint32_t mbarrier, std::uint32_t parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
      "@!done bra again; }" ::"r"(mbarrier),
      "r"(parity)
      : "memory");
#else
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
      "@!done bra again; }" ::"r"(mbarrier),
      "r"(parity)
      : "memory");
#endif
}

// The same; sees what threads of other blocks did before they arrived. sm_90.
INFLIGHT_DEVICE void wait_parity_for_cluster(std::uint32_t mbarrier, std::uint32_t parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again; }" ::"r"(mbarrier),
      "r"(parity)
      : "memory");
}

INFLIGHT_DEVICE void wait_token(std::uint32_t mbarrier, std::uint64_t token) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.test_wait.shared.b64 done, [%0], %1;\n"
      "@!done bra again; }" ::"r"(mbarrier),
      "l"(token)
      : "memory");
#else
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.try_wait.shared.b64 done, [%0], %1;\n"
      "@!done bra again; }" ::"r"(mbarrier),
      "l"(token)
      : "memory");
#endif
}

// Makes the mbarriers that one thread initialised visible to the arrivals of other threads and, on
// sm_90, to copies. A barrier of the block must follow.
INFLIGHT_DEVICE void publish_mbarriers() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  ptx::fence_mbarrier_init();
#endif
}

}  // namespace inflight::impl
