// cp.async and its groups: PTX ISA, "Data Movement and Conversion Instructions: cp.async", sm_80.
//
// Each copies 4, 8 or 16 bytes from global to this block's shared memory; both addresses are
// multiples of that size. The issuing thread sees the bytes after a wait for the copy's group.
// Other threads see them after a barrier that follows the wait.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight {

// Caches that a cp.async uses: L1 and L2 (.ca), or L2 only (.cg, 16 bytes).
enum class cache_operator { all, global };

// Prefetch size in L2 around the bytes: .L2::64B, .L2::128B, .L2::256B.
enum class l2_prefetch { none, b64, b128, b256 };

namespace ptx {

// cp.async.{ca,cg}.shared.global{.L2::...} [dst], [src], Bytes;
template <int Bytes, cache_operator Cache, l2_prefetch Level = l2_prefetch::none>
INFLIGHT_DEVICE void cp_async(std::uint32_t dst, std::uint64_t src) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async moves 4, 8 or 16 bytes.");
  static_assert(Cache == cache_operator::all || Bytes == 16,
                "cache_operator::global moves 16 bytes; use cache_operator::all for 4 or 8.");
#define INFLIGHT_CP_ASYNC(form) \
  asm volatile("cp.async." form " [%0], [%1], %2;" ::"r"(dst), "l"(src), "n"(Bytes) : "memory")
  if constexpr (Cache == cache_operator::global) {
    if constexpr (Level == l2_prefetch::none) INFLIGHT_CP_ASYNC("cg.shared.global");
    if constexpr (Level == l2_prefetch::b64) INFLIGHT_CP_ASYNC("cg.shared.global.L2::64B");
    if constexpr (Level == l2_prefetch::b128) INFLIGHT_CP_ASYNC("cg.shared.global.L2::128B");
    if constexpr (Level == l2_prefetch::b256) INFLIGHT_CP_ASYNC("cg.shared.global.L2::256B");
  } else {
    if constexpr (Level == l2_prefetch::none) INFLIGHT_CP_ASYNC("ca.shared.global");
    if constexpr (Level == l2_prefetch::b64) INFLIGHT_CP_ASYNC("ca.shared.global.L2::64B");
    if constexpr (Level == l2_prefetch::b128) INFLIGHT_CP_ASYNC("ca.shared.global.L2::128B");
    if constexpr (Level == l2_prefetch::b256) INFLIGHT_CP_ASYNC("ca.shared.global.L2::256B");
  }
#undef INFLIGHT_CP_ASYNC
}

// The same; the first `src_bytes` (0 to Bytes) are copied and the rest is filled with zeros.
template <int Bytes, cache_operator Cache>
INFLIGHT_DEVICE void cp_async_zero_fill(std::uint32_t dst, std::uint64_t src,
                                        std::uint32_t src_bytes) {
  if constexpr (Cache == cache_operator::global)
    asm volatile("cp.async.cg.shared.global [%0], [%1], %2, %3;" ::"r"(dst), "l"(src), "n"(Bytes),
                 "r"(src_bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(dst), "l"(src), "n"(Bytes),
                 "r"(src_bytes)
                 : "memory");
}

// The same; if `ignore` is true, the source is not read and zeros are written.
template <int Bytes, cache_operator Cache>
INFLIGHT_DEVICE void cp_async_ignore(std::uint32_t dst, std::uint64_t src, bool ignore) {
  if constexpr (Cache == cache_operator::global)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %3, 0; cp.async.cg.shared.global [%0], [%1], %2, p; }" ::
            "r"(dst),
        "l"(src), "n"(Bytes), "r"(static_cast<int>(ignore))
        : "memory");
  else
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %3, 0; cp.async.ca.shared.global [%0], [%1], %2, p; }" ::
            "r"(dst),
        "l"(src), "n"(Bytes), "r"(static_cast<int>(ignore))
        : "memory");
}

// The same with an L2 policy that createpolicy made.
template <int Bytes, cache_operator Cache>
INFLIGHT_DEVICE void cp_async_policy(std::uint32_t dst, std::uint64_t src, std::uint64_t policy) {
  if constexpr (Cache == cache_operator::global)
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], %2, %3;" ::"r"(dst),
                 "l"(src), "n"(Bytes), "l"(policy)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;" ::"r"(dst),
                 "l"(src), "n"(Bytes), "l"(policy)
                 : "memory");
}

// Commits the group of the copies that this thread has issued since the last commit.
INFLIGHT_DEVICE void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most the `Newer` newest of this thread's groups are in flight.
template <int Newer>
INFLIGHT_DEVICE void cp_async_wait_group() {
  static_assert(Newer >= 0, "A number of groups cannot be negative.");
  asm volatile("cp.async.wait_group %0;" ::"n"(Newer) : "memory");
}

// Waits for all copies of this thread, whether in a group or not.
INFLIGHT_DEVICE void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Arrives on an mbarrier once all copies that this thread has issued so far are done. The
// mbarrier's expected count must include this arrival.
INFLIGHT_DEVICE void cp_async_mbarrier_arrive_noinc(std::uint32_t mbarrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(mbarrier) : "memory");
}

// The same, but first adds one to the pending count, so the count does not change on balance.
INFLIGHT_DEVICE void cp_async_mbarrier_arrive(std::uint32_t mbarrier) {
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(mbarrier) : "memory");
}

}  // namespace ptx
}  // namespace inflight
