// Asynchronous instructions as macros, so that each is reported at the line that uses it.
#pragma once
#include "tests/kernels/check/check_test.cuh"

// --- cp.async
#define COPY(to, from, bytes)                                                        \
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), \
               "l"(from), "n"(bytes)                                                 \
               : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define WAIT_ALL() asm volatile("cp.async.wait_all;" ::: "memory")
#define COPY_ARRIVE(bar)                                                                       \
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(bar)) \
               : "memory")

// --- bulk copies
#define BULK_LOAD(to, from, bytes, bar)                                                       \
  asm volatile(                                                                               \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
      ::"r"(shared_address(to)),                                                              \
      "l"(from), "r"(bytes), "r"(shared_address(bar))                                         \
      : "memory")
#define BULK_STORE(to, from, bytes)                                                            \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),        \
               "r"(shared_address(from)), "r"(bytes)                                           \
               : "memory")
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT(n) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory")
#define BULK_WAIT_READ(n) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory")
#define FENCE_PROXY_ASYNC() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

// --- mbarriers
#define MBARRIER_INIT(bar, count)                                                             \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) \
               : "memory")
#define MBARRIER_INVAL(bar) \
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(bar)) : "memory")
#define MBARRIER_ARRIVE(bar) \
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory")
#define MBARRIER_EXPECT(bar, bytes)                                                     \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(          \
                   shared_address(bar)),                                                \
               "r"(bytes)                                                               \
               : "memory")
#define MBARRIER_WAIT(bar, parity)                                                    \
  asm volatile(                                                                       \
      "{ .reg .pred done;\n"                                                          \
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"             \
      "@!done bra AGAIN; }" ::"r"(shared_address(bar)),                               \
      "r"(parity)                                                                     \
      : "memory")
