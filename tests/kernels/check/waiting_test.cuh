// Single mbarrier instructions, for programs that use them wrongly.
#pragma once
#include "tests/kernels/check/check_test.cuh"

using Word = std::uint64_t;  // an mbarrier

#define INLINED __device__ __forceinline__

INLINED void init(Word* bar, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count)
               : "memory");
}
INLINED void inval(Word* bar) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(bar)) : "memory");
}
INLINED std::uint64_t arrive(Word* bar) {
  std::uint64_t token;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];"
               : "=l"(token)
               : "r"(shared_address(bar))
               : "memory");
  return token;
}
INLINED void arrive_expect(Word* bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)),
               "r"(bytes)
               : "memory");
}
INLINED void expect(Word* bar, unsigned bytes) {
  asm volatile(
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)),
      "r"(bytes)
      : "memory");
}
INLINED bool try_parity(Word* bar, unsigned parity) {
  unsigned done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; "
      "}"
      : "=r"(done)
      : "r"(shared_address(bar)), "r"(parity)
      : "memory");
  return done;
}
INLINED bool test_parity(Word* bar, unsigned parity) {
  unsigned done;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
      "p; }"
      : "=r"(done)
      : "r"(shared_address(bar)), "r"(parity)
      : "memory");
  return done;
}
INLINED bool try_token(Word* bar, std::uint64_t token) {
  unsigned done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(shared_address(bar)), "l"(token)
      : "memory");
  return done;
}
INLINED void wait_parity(Word* bar, unsigned parity) {
  while (!try_parity(bar, parity)) {
  }
}
INLINED void wait_token(Word* bar, std::uint64_t token) {
  while (!try_token(bar, token)) {
  }
}
// A bulk copy that completes on `bar`.
INLINED void bulk_load(void* to, const void* from, unsigned bytes, Word* bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(bar))
      : "memory");
}
// After one thread initialises it, all threads may use it.
INLINED void publish_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
}
