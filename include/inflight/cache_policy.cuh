// L2 cache policies for copies: how long the lines that a copy accesses should stay in L2. PTX ISA,
// "createpolicy", sm_80. A policy is a hint and changes no result.
//
//   const std::uint64_t once = inflight::cache_policy<inflight::l2_priority::first>();
//   inflight::cp_async_policy<16>(shared, global, once);
#pragma once
#include <inflight/base/config.cuh>

namespace inflight {

// Eviction priority: evicted first, last, as lines normally are, or unchanged.
enum class l2_priority { first, last, normal, unchanged };

namespace ptx {

// createpolicy.fractional.L2::Primary.L2::Secondary.b64: the fraction of the accesses, 0 < fraction
// <= 1, gets the primary priority, the rest the secondary, which is first or unchanged.
template <l2_priority Primary, l2_priority Secondary>
INFLIGHT_DEVICE std::uint64_t createpolicy_fractional(float fraction) {
  static_assert(Secondary == l2_priority::first || Secondary == l2_priority::unchanged,
                "The secondary priority of a policy is l2_priority::first or unchanged.");
  static_assert(Primary != Secondary || Primary == l2_priority::unchanged,
                "A policy's two priorities differ.");
  std::uint64_t policy;
#define INFLIGHT_POLICY(primary, secondary)                                               \
  asm("createpolicy.fractional.L2::evict_" primary ".L2::evict_" secondary ".b64 %0, %1;" \
      : "=l"(policy)                                                                      \
      : "f"(fraction))
  constexpr bool first_else = Secondary == l2_priority::first;
  if constexpr (Primary == l2_priority::first) INFLIGHT_POLICY("first", "unchanged");
  if constexpr (Primary == l2_priority::last && first_else) INFLIGHT_POLICY("last", "first");
  if constexpr (Primary == l2_priority::last && !first_else) INFLIGHT_POLICY("last", "unchanged");
  if constexpr (Primary == l2_priority::normal && first_else) INFLIGHT_POLICY("normal", "first");
  if constexpr (Primary == l2_priority::normal && !first_else)
    INFLIGHT_POLICY("normal", "unchanged");
  if constexpr (Primary == l2_priority::unchanged && first_else)
    INFLIGHT_POLICY("unchanged", "first");
  if constexpr (Primary == l2_priority::unchanged && !first_else)
    INFLIGHT_POLICY("unchanged", "unchanged");
#undef INFLIGHT_POLICY
  return policy;
}

}  // namespace ptx

// A policy for the last argument of copies. One instruction; make it once, before the loop.
template <l2_priority Primary, l2_priority Secondary = l2_priority::unchanged>
INFLIGHT_DEVICE std::uint64_t cache_policy(float fraction = 1.0f) {
  return ptx::createpolicy_fractional<Primary, Secondary>(fraction);
}

}  // namespace inflight
