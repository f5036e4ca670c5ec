// L2 cache policies for copies: how long the lines that a copy accesses should stay in L2. PTX ISA,
// "createpolicy", sm_80. A policy is a hint and changes no result.
//
//   const std::uint64_t once = inflight::cache_policy<inflight::l2_priority::first>();
//   inflight::cp_async<16>(shared, global, once);
//
// Every copy whose instruction takes a policy takes one as its last argument.
#pragma once
#include <inflight/base/config.cuh>
#include <inflight/ptx/address.cuh>

namespace inflight {

// Eviction priority: evicted first, last, as lines normally are, or unchanged.
enum class l2_priority { first, last, normal, unchanged };

namespace impl {

template <l2_priority Primary, l2_priority Secondary>
INFLIGHT_DEVICE constexpr void require_priorities() {
  static_assert(Secondary == l2_priority::first || Secondary == l2_priority::unchanged,
                "The secondary priority of a policy is l2_priority::first or unchanged.");
  static_assert(Primary != Secondary || Primary == l2_priority::unchanged,
                "A policy's two priorities differ.");
}

}  // namespace impl

namespace ptx {

// FORM(primary, secondary) with the two priorities in PTX's spelling.
#define INFLIGHT_BY_PRIORITIES(FORM)                                                         \
  impl::require_priorities<Primary, Secondary>();                                            \
  constexpr bool first_else = Secondary == l2_priority::first;                               \
  if constexpr (Primary == l2_priority::first) FORM("first", "unchanged");                   \
  if constexpr (Primary == l2_priority::last && first_else) FORM("last", "first");           \
  if constexpr (Primary == l2_priority::last && !first_else) FORM("last", "unchanged");      \
  if constexpr (Primary == l2_priority::normal && first_else) FORM("normal", "first");       \
  if constexpr (Primary == l2_priority::normal && !first_else) FORM("normal", "unchanged");  \
  if constexpr (Primary == l2_priority::unchanged && first_else) FORM("unchanged", "first"); \
  if constexpr (Primary == l2_priority::unchanged && !first_else) FORM("unchanged", "unchanged")

// createpolicy.fractional.L2::Primary.L2::Secondary.b64: the fraction of the accesses, 0 < fraction
// <= 1, gets the primary priority, the rest the secondary, which is first or unchanged.
template <l2_priority Primary, l2_priority Secondary>
INFLIGHT_DEVICE std::uint64_t createpolicy_fractional(float fraction) {
  std::uint64_t policy;
#define INFLIGHT_POLICY(primary, secondary)                                               \
  asm("createpolicy.fractional.L2::evict_" primary ".L2::evict_" secondary ".b64 %0, %1;" \
      : "=l"(policy)                                                                      \
      : "f"(fraction))
  INFLIGHT_BY_PRIORITIES(INFLIGHT_POLICY);
#undef INFLIGHT_POLICY
  return policy;
}

// createpolicy.range.global.L2::Primary.L2::Secondary.b64: the first `primary` bytes from `begin`
// on get the primary priority, those up to `total` bytes the secondary. primary <= total.
template <l2_priority Primary, l2_priority Secondary>
INFLIGHT_DEVICE std::uint64_t createpolicy_range(std::uint64_t begin, std::uint32_t primary_bytes,
                                                 std::uint32_t total_bytes) {
  std::uint64_t policy;
#define INFLIGHT_POLICY(primary, secondary)                                  \
  asm("createpolicy.range.global.L2::evict_" primary ".L2::evict_" secondary \
      ".b64 %0, [%1], %2, %3;"                                               \
      : "=l"(policy)                                                         \
      : "l"(begin), "r"(primary_bytes), "r"(total_bytes))
  INFLIGHT_BY_PRIORITIES(INFLIGHT_POLICY);
#undef INFLIGHT_POLICY
  return policy;
}
#undef INFLIGHT_BY_PRIORITIES

}  // namespace ptx

// A policy for the last argument of copies. One instruction; make it once, before the loop.
template <l2_priority Primary, l2_priority Secondary = l2_priority::unchanged>
INFLIGHT_DEVICE std::uint64_t cache_policy(float fraction = 1.0f) {
  return ptx::createpolicy_fractional<Primary, Secondary>(fraction);
}

// The same for a window of global memory: its first `primary_bytes` get the primary priority, the
// rest of its `total_bytes` the secondary. Accesses outside of it are as without a policy.
template <l2_priority Primary, l2_priority Secondary = l2_priority::unchanged>
INFLIGHT_DEVICE std::uint64_t cache_policy_range(const void* begin, std::uint32_t primary_bytes,
                                                 std::uint32_t total_bytes) {
  return ptx::createpolicy_range<Primary, Secondary>(ptx::global_address(begin), primary_bytes,
                                                     total_bytes);
}

}  // namespace inflight
