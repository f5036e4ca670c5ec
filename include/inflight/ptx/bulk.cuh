// Bulk copies of any multiple of 16 bytes: PTX ISA, "cp.async.bulk", sm_90.
//
// One thread issues a copy; both addresses are multiples of 16. Loads complete on an mbarrier by
// transaction bytes, stores by bulk groups of the issuing thread. They belong to the async proxy:
// see ptx/fence.cuh for the fences that ordinary writes need before them.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight {

// The operation of a reduction: dst = op(dst, src).
enum class reduction_op { add, min, max, inc, dec, bit_and, bit_or, bit_xor };

namespace ptx {

// global -> this block's shared memory.
INFLIGHT_DEVICE void cp_async_bulk_load(std::uint32_t dst, std::uint64_t src, std::uint32_t bytes,
                                        std::uint32_t mbarrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(dst),
      "l"(src), "r"(bytes), "r"(mbarrier)
      : "memory");
}

// The same with an L2 policy.
INFLIGHT_DEVICE void cp_async_bulk_load(std::uint32_t dst, std::uint64_t src, std::uint32_t bytes,
                                        std::uint32_t mbarrier, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1], %2, [%3], %4;" ::"r"(dst),
      "l"(src), "r"(bytes), "r"(mbarrier), "l"(policy)
      : "memory");
}

// global -> the same offset in the shared memory of every block of the cluster whose rank has its
// bit set in `ranks`. The bytes complete on the mbarrier at the same offset in each block.
INFLIGHT_DEVICE void cp_async_bulk_multicast(std::uint32_t dst, std::uint64_t src,
                                             std::uint32_t bytes, std::uint32_t mbarrier,
                                             std::uint16_t ranks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1], %2, [%3], %4;" ::"r"(dst),
      "l"(src), "r"(bytes), "r"(mbarrier), "h"(ranks)
      : "memory");
}
INFLIGHT_DEVICE void cp_async_bulk_multicast(std::uint32_t dst, std::uint64_t src,
                                             std::uint32_t bytes, std::uint32_t mbarrier,
                                             std::uint16_t ranks, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      ".L2::cache_hint [%0], [%1], %2, [%3], %4, %5;" ::"r"(dst),
      "l"(src), "r"(bytes), "r"(mbarrier), "h"(ranks), "l"(policy)
      : "memory");
}

// This block's shared memory -> that of another block of the cluster, on whose mbarrier the bytes
// complete. `dst` and `mbarrier` are shared::cluster addresses from map_shared_to_rank.
INFLIGHT_DEVICE void cp_async_bulk_to_cluster(std::uint32_t dst, std::uint32_t src,
                                              std::uint32_t bytes, std::uint32_t mbarrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
      " [%0], [%1], %2, [%3];" ::"r"(dst),
      "r"(src), "r"(bytes), "r"(mbarrier)
      : "memory");
}

// Shared memory -> global.
INFLIGHT_DEVICE void cp_async_bulk_store(std::uint64_t dst, std::uint32_t src,
                                         std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(src),
               "r"(bytes)
               : "memory");
}
INFLIGHT_DEVICE void cp_async_bulk_store(std::uint64_t dst, std::uint32_t src, std::uint32_t bytes,
                                         std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(dst),
      "r"(src), "r"(bytes), "l"(policy)
      : "memory");
}

// The same; bit i of `mask` says whether byte i of every 16 is written. sm_100.
INFLIGHT_DEVICE void cp_async_bulk_store_masked(std::uint64_t dst, std::uint32_t src,
                                                std::uint32_t bytes, std::uint16_t mask) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], %2, %3;" ::"l"(dst),
               "r"(src), "r"(bytes), "h"(mask)
               : "memory");
}
INFLIGHT_DEVICE void cp_async_bulk_store_masked(std::uint64_t dst, std::uint32_t src,
                                                std::uint32_t bytes, std::uint16_t mask,
                                                std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask"
      " [%0], [%1], %2, %3, %4;" ::"l"(dst),
      "r"(src), "r"(bytes), "l"(policy), "h"(mask)
      : "memory");
}

// Prefetches bytes into L2.
INFLIGHT_DEVICE void cp_async_bulk_prefetch(std::uint64_t src, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(src), "r"(bytes) : "memory");
}
INFLIGHT_DEVICE void cp_async_bulk_prefetch(std::uint64_t src, std::uint32_t bytes,
                                            std::uint64_t policy) {
  asm volatile("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%0], %1, %2;" ::"l"(src),
               "r"(bytes), "l"(policy)
               : "memory");
}

// Commits the group of the bulk stores and reductions that this thread has issued.
INFLIGHT_DEVICE void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until at most `Newer` groups are in flight; the writes of the others are complete.
template <int Newer>
INFLIGHT_DEVICE void cp_async_bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Newer) : "memory");
}

// The same for reads only: the sources of the others may be overwritten.
template <int Newer>
INFLIGHT_DEVICE void cp_async_bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Newer) : "memory");
}

}  // namespace ptx
}  // namespace inflight
