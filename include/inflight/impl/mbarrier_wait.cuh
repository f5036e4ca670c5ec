// Waiting on an mbarrier: a loop of two instructions, asleep between tries where the chip can.
#pragma once
#include <inflight/ptx/fence.cuh>
#include <inflight/ptx/mbarrier.cuh>

namespace inflight::impl {

// Labels in braces are local to them, so the loop may be inlined many times.
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

// Makes what one thread initialised visible to the others' arrivals and, where there are such, to
// copies. A barrier of the block must follow.
INFLIGHT_DEVICE void publish_mbarriers() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  ptx::fence_mbarrier_init();
#endif
}

}  // namespace inflight::impl
