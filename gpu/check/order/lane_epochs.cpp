// Joins the epochs of two rows, using AVX2 if the host has it. Most of a join of clocks is this.
#include "gpu/check/order/lane_epochs.hpp"

#include <algorithm>

namespace inflight::order {
namespace {

// Compiled for each instruction set, as vectors of that set.
[[gnu::always_inline]] inline LaneJoin join_rows(const LaneEpochs& a, const LaneEpochs& b,
                                                 LaneEpochs& both) {
  Epoch not_a = 0, not_b = 0, least = always;
  for (unsigned l = 0; l < lanes; ++l) {
    const Epoch later = std::max(a[l], b[l]);
    both[l] = later;
    not_a |= later ^ a[l];
    not_b |= later ^ b[l];
    least = std::min(least, later);
  }
  return {not_a == 0, not_b == 0, least};
}

#ifdef __x86_64__
__attribute__((target("avx2"))) LaneJoin join_rows_avx2(const LaneEpochs& a, const LaneEpochs& b,
                                                        LaneEpochs& both) {
  return join_rows(a, b, both);
}
#endif
LaneJoin join_rows_plain(const LaneEpochs& a, const LaneEpochs& b, LaneEpochs& both) {
  return join_rows(a, b, both);
}

#ifdef __x86_64__
const auto join_here = __builtin_cpu_supports("avx2") ? join_rows_avx2 : join_rows_plain;
#else
constexpr auto join_here = join_rows_plain;
#endif

}  // namespace

LaneJoin join_lanes(const LaneEpochs& a, const LaneEpochs& b, LaneEpochs& both) {
  return join_here(a, b, both);
}

}  // namespace inflight::order
