// What may follow the arguments of a copy: nothing, or one L2 policy.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight::impl {

template <class... Policy>
INFLIGHT_HOST_DEVICE constexpr void require_policy() {
  static_assert(sizeof...(Policy) <= 1, "A copy takes one L2 policy.");
  static_assert((... && (std::is_same_v<Policy, unsigned long> ||
                         std::is_same_v<Policy, unsigned long long>)),
                "The last argument of a copy is an L2 policy, a std::uint64_t that cache_policy() "
                "or cache_policy_range() returned.");
}

}  // namespace inflight::impl
