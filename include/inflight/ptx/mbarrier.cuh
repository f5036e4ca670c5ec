// mbarrier: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier", sm_80;
// transaction bytes, try_wait and other blocks' mbarriers, sm_90.
//
// An mbarrier is 64 opaque bits in shared memory, at a multiple of 8. Addresses are those of
// ptx::shared_address. A token identifies the phase that an arrival belongs to.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight::ptx {

// `arrivals`, 1 to 2^20 - 1, complete a phase.
INFLIGHT_DEVICE void mbarrier_init(std::uint32_t mbarrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(mbarrier), "r"(arrivals) : "memory");
}

// The 64 bits are ordinary memory again.
INFLIGHT_DEVICE void mbarrier_inval(std::uint32_t mbarrier) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(mbarrier) : "memory");
}

INFLIGHT_DEVICE std::uint64_t mbarrier_arrive(std::uint32_t mbarrier) {
  std::uint64_t token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(mbarrier) : "memory");
  return token;
}

// `count` arrivals at once. sm_90; on sm_80 allowed only if they do not complete the phase.
INFLIGHT_DEVICE std::uint64_t mbarrier_arrive(std::uint32_t mbarrier, std::uint32_t count) {
  std::uint64_t token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;"
               : "=l"(token)
               : "r"(mbarrier), "r"(count)
               : "memory");
  return token;
}

// Arrives, and later phases expect one arrival fewer.
INFLIGHT_DEVICE std::uint64_t mbarrier_arrive_drop(std::uint32_t mbarrier) {
  std::uint64_t token;
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
               : "=l"(token)
               : "r"(mbarrier)
               : "memory");
  return token;
}

INFLIGHT_DEVICE std::uint64_t mbarrier_arrive_drop(std::uint32_t mbarrier, std::uint32_t count) {
  std::uint64_t token;
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1], %2;"
               : "=l"(token)
               : "r"(mbarrier), "r"(count)
               : "memory");
  return token;
}

// Arrives `count` times without completing the phase: other arrivals must still be pending.
INFLIGHT_DEVICE std::uint64_t mbarrier_arrive_no_complete(std::uint32_t mbarrier,
                                                          std::uint32_t count) {
  std::uint64_t token;
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
               : "=l"(token)
               : "r"(mbarrier), "r"(count)
               : "memory");
  return token;
}

// The current phase also waits for `bytes` of copies. sm_90.
INFLIGHT_DEVICE void mbarrier_expect_tx(std::uint32_t mbarrier, std::uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(mbarrier),
               "r"(bytes)
               : "memory");
}

// Expects `bytes` more, then arrives, in one instruction. sm_90.
INFLIGHT_DEVICE std::uint64_t mbarrier_arrive_expect_tx(std::uint32_t mbarrier,
                                                        std::uint32_t bytes) {
  std::uint64_t token;
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
               : "=l"(token)
               : "r"(mbarrier), "r"(bytes)
               : "memory");
  return token;
}

// Whether the token's phase has completed.
INFLIGHT_DEVICE bool mbarrier_test_wait(std::uint32_t mbarrier, std::uint64_t token) {
  std::uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(mbarrier), "l"(token)
               : "memory");
  return done;
}

// Whether the phase of that parity (0 for the first) has completed. Valid only for the current
// phase and the one before it.
INFLIGHT_DEVICE bool mbarrier_test_wait_parity(std::uint32_t mbarrier, std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(mbarrier), "r"(parity)
      : "memory");
  return done;
}

// The same, but may wait for a time that the chip chooses if the phase has not completed. sm_90.
INFLIGHT_DEVICE bool mbarrier_try_wait(std::uint32_t mbarrier, std::uint64_t token) {
  std::uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(mbarrier), "l"(token)
               : "memory");
  return done;
}
INFLIGHT_DEVICE bool mbarrier_try_wait_parity(std::uint32_t mbarrier, std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(mbarrier), "r"(parity)
      : "memory");
  return done;
}

// The same, for at most `nanoseconds`.
INFLIGHT_DEVICE bool mbarrier_try_wait_parity_for(std::uint32_t mbarrier, std::uint32_t parity,
                                                  std::uint32_t nanoseconds) {
  std::uint32_t done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(mbarrier), "r"(parity), "r"(nanoseconds)
      : "memory");
  return done;
}

// The arrivals still pending when the token was made.
INFLIGHT_DEVICE std::uint32_t mbarrier_pending_count(std::uint64_t token) {
  std::uint32_t count;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
  return count;
}

// `bytes` of the current phase's copies are complete, as if a copy had moved them. sm_90.
INFLIGHT_DEVICE void mbarrier_complete_tx(std::uint32_t mbarrier, std::uint32_t bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(mbarrier),
               "r"(bytes)
               : "memory");
}

// --- the mbarrier at the same offset in the shared memory of block `rank` of this cluster, sm_90.
// --- Threads that wait there at cluster scope see what this thread wrote before it arrived.

#define INFLIGHT_REMOTE "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; "
INFLIGHT_DEVICE void mbarrier_arrive_remote(std::uint32_t mbarrier, std::uint32_t rank) {
  asm volatile(INFLIGHT_REMOTE
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(mbarrier),
               "r"(rank)
               : "memory");
}
INFLIGHT_DEVICE void mbarrier_arrive_remote(std::uint32_t mbarrier, std::uint32_t rank,
                                            std::uint32_t count) {
  asm volatile(
      INFLIGHT_REMOTE
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there], %2; }" ::"r"(mbarrier),
      "r"(rank), "r"(count)
      : "memory");
}
// The same without a scope, which PTX gives that of a block: for threads that have only read. It
// costs no fence of the chip's memory. CUTLASS releases stages to other blocks by it, and chips
// order those reads before what the other block does then.
INFLIGHT_DEVICE void mbarrier_arrive_remote_after_reads(std::uint32_t mbarrier,
                                                        std::uint32_t rank) {
  asm volatile(INFLIGHT_REMOTE "mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(mbarrier),
               "r"(rank)
               : "memory");
}
INFLIGHT_DEVICE void mbarrier_arrive_expect_tx_remote(std::uint32_t mbarrier, std::uint32_t rank,
                                                      std::uint32_t bytes) {
  asm volatile(
      INFLIGHT_REMOTE
      "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [there], %2; }" ::"r"(
          mbarrier),
      "r"(rank), "r"(bytes)
      : "memory");
}
INFLIGHT_DEVICE void mbarrier_expect_tx_remote(std::uint32_t mbarrier, std::uint32_t rank,
                                               std::uint32_t bytes) {
  asm volatile(
      INFLIGHT_REMOTE
      "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [there], %2; }" ::"r"(mbarrier),
      "r"(rank), "r"(bytes)
      : "memory");
}
#undef INFLIGHT_REMOTE

}  // namespace inflight::ptx
