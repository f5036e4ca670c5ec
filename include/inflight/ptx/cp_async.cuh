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

namespace impl {

template <int Bytes, cache_operator Cache>
INFLIGHT_DEVICE constexpr void require_cp_async() {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async moves 4, 8 or 16 bytes.");
  static_assert(Cache == cache_operator::all || Bytes == 16,
                "cache_operator::global moves 16 bytes; use cache_operator::all for 4 or 8.");
}

// The same address in one register. ptxas of CUDA 12.4 to 13.3, for sm_90 and later, names
// wrong registers in a cp.async that has a policy and whose address is a register plus a uniform
// one: the chip stops with an illegal instruction. ptxas does not look through a prmt.
INFLIGHT_DEVICE std::uint32_t in_one_register(std::uint32_t address) {
  std::uint32_t same;
  asm("prmt.b32 %0, %1, 0, 0x3210;" : "=r"(same) : "r"(address));
  return same;
}

}  // namespace impl

namespace ptx {

// One instruction in its eight pairs of cache operator and prefetch size, because PTX takes both as
// text. FRONT and BACK stand around it; HINT is the modifier for an L2 policy, or nothing.
#define INFLIGHT_CP_ASYNC_LEVELS(FRONT, CACHE, HINT, BACK, ...)                               \
  if constexpr (Level == l2_prefetch::none)                                                   \
    asm volatile(FRONT "cp.async." CACHE ".shared.global" HINT BACK __VA_ARGS__);             \
  else if constexpr (Level == l2_prefetch::b64)                                               \
    asm volatile(FRONT "cp.async." CACHE ".shared.global" HINT ".L2::64B" BACK __VA_ARGS__);  \
  else if constexpr (Level == l2_prefetch::b128)                                              \
    asm volatile(FRONT "cp.async." CACHE ".shared.global" HINT ".L2::128B" BACK __VA_ARGS__); \
  else                                                                                        \
    asm volatile(FRONT "cp.async." CACHE ".shared.global" HINT ".L2::256B" BACK __VA_ARGS__)
#define INFLIGHT_CP_ASYNC(FRONT, HINT, BACK, ...)                   \
  impl::require_cp_async<Bytes, Cache>();                           \
  if constexpr (Cache == cache_operator::global) {                  \
    INFLIGHT_CP_ASYNC_LEVELS(FRONT, "cg", HINT, BACK, __VA_ARGS__); \
  } else {                                                          \
    INFLIGHT_CP_ASYNC_LEVELS(FRONT, "ca", HINT, BACK, __VA_ARGS__); \
  }                                                                 \
  static_assert(true)

// cp.async.{ca,cg}.shared.global{.L2::cache_hint}{.L2::...} [dst], [src], Bytes{, policy};
// A policy is one that createpolicy made.
template <int Bytes, cache_operator Cache, l2_prefetch Level = l2_prefetch::none>
INFLIGHT_DEVICE void cp_async(std::uint32_t dst, std::uint64_t src) {
  INFLIGHT_CP_ASYNC("", "", " [%0], [%1], %2;", ::"r"(dst), "l"(src), "n"(Bytes) : "memory");
}
template <int Bytes, cache_operator Cache, l2_prefetch Level = l2_prefetch::none>
INFLIGHT_DEVICE void cp_async(std::uint32_t dst, std::uint64_t src, std::uint64_t policy) {
  INFLIGHT_CP_ASYNC("", ".L2::cache_hint", " [%0], [%1], %2, %3;",
                    ::"r"(impl::in_one_register(dst)), "l"(src), "n"(Bytes), "l"(policy)
                    : "memory");
}

// The same; the first `src_bytes` (0 to Bytes) are copied and the rest is filled with zeros.
template <int Bytes, cache_operator Cache, l2_prefetch Level = l2_prefetch::none>
INFLIGHT_DEVICE void cp_async_zero_fill(std::uint32_t dst, std::uint64_t src,
                                        std::uint32_t src_bytes) {
  INFLIGHT_CP_ASYNC("", "", " [%0], [%1], %2, %3;", ::"r"(dst), "l"(src), "n"(Bytes), "r"(src_bytes)
                    : "memory");
}
template <int Bytes, cache_operator Cache, l2_prefetch Level = l2_prefetch::none>
INFLIGHT_DEVICE void cp_async_zero_fill(std::uint32_t dst, std::uint64_t src,
                                        std::uint32_t src_bytes, std::uint64_t policy) {
  INFLIGHT_CP_ASYNC("", ".L2::cache_hint", " [%0], [%1], %2, %3, %4;",
                    ::"r"(impl::in_one_register(dst)), "l"(src), "n"(Bytes), "r"(src_bytes),
                    "l"(policy)
                    : "memory");
}

// The same; if `ignore` is true, the source is not read and zeros are written.
#define INFLIGHT_IGNORE_IF_3 "{ .reg .pred p; setp.ne.b32 p, %3, 0; "
template <int Bytes, cache_operator Cache, l2_prefetch Level = l2_prefetch::none>
INFLIGHT_DEVICE void cp_async_ignore(std::uint32_t dst, std::uint64_t src, bool ignore) {
  INFLIGHT_CP_ASYNC(INFLIGHT_IGNORE_IF_3, "", " [%0], [%1], %2, p; }", ::"r"(dst), "l"(src),
                    "n"(Bytes), "r"(static_cast<int>(ignore))
                    : "memory");
}
template <int Bytes, cache_operator Cache, l2_prefetch Level = l2_prefetch::none>
INFLIGHT_DEVICE void cp_async_ignore(std::uint32_t dst, std::uint64_t src, bool ignore,
                                     std::uint64_t policy) {
  INFLIGHT_CP_ASYNC(INFLIGHT_IGNORE_IF_3, ".L2::cache_hint", " [%0], [%1], %2, p, %4; }",
                    ::"r"(impl::in_one_register(dst)), "l"(src), "n"(Bytes),
                    "r"(static_cast<int>(ignore)), "l"(policy)
                    : "memory");
}
#undef INFLIGHT_IGNORE_IF_3
#undef INFLIGHT_CP_ASYNC
#undef INFLIGHT_CP_ASYNC_LEVELS

// An older name of cp_async with a policy.
template <int Bytes, cache_operator Cache>
INFLIGHT_DEVICE void cp_async_policy(std::uint32_t dst, std::uint64_t src, std::uint64_t policy) {
  cp_async<Bytes, Cache>(dst, src, policy);
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
