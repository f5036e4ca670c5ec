// Joins, raises and compares the epochs of rows, using AVX2 if the host has it. Most of a join of
// clocks is this.
#include "gpu/check/order/lane_epochs.hpp"

#include <algorithm>

#ifdef __x86_64__
#  include <immintrin.h>
#endif

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

[[gnu::always_inline]] inline void raise_row(LaneEpochs& of, Mask mask, Epoch epoch) {
  for (unsigned l = 0; l < lanes; ++l) of[l] = std::max(of[l], mask >> l & 1 ? epoch : 0);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) LaneJoin join_rows_avx2(const LaneEpochs& a, const LaneEpochs& b,
                                                        LaneEpochs& both) {
  return join_rows(a, b, both);
}
__attribute__((target("avx2"))) void raise_row_avx2(LaneEpochs& of, Mask mask, Epoch epoch) {
  raise_row(of, mask, epoch);
}
__attribute__((target("avx2"))) Mask lanes_from_avx2(const LaneEpochs& of, Epoch epoch) {
  const __m256i least = _mm256_set1_epi32(static_cast<int>(epoch));
  Mask found = 0;
  for (unsigned l = 0; l < lanes; l += 8) {
    const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(of.data() + l));
    const __m256i is = _mm256_cmpeq_epi32(_mm256_max_epu32(here, least), here);
    found |= static_cast<Mask>(_mm256_movemask_ps(_mm256_castsi256_ps(is))) << l;
  }
  return found;
}
#endif
LaneJoin join_rows_plain(const LaneEpochs& a, const LaneEpochs& b, LaneEpochs& both) {
  return join_rows(a, b, both);
}
void raise_row_plain(LaneEpochs& of, Mask mask, Epoch epoch) { raise_row(of, mask, epoch); }
Mask lanes_from_plain(const LaneEpochs& of, Epoch epoch) {
  Mask found = 0;
  for (unsigned l = 0; l < lanes; ++l) found |= Mask{of[l] >= epoch} << l;
  return found;
}

#ifdef __x86_64__
const bool has_avx2 = __builtin_cpu_supports("avx2");
const auto join_here = has_avx2 ? join_rows_avx2 : join_rows_plain;
const auto raise_here = has_avx2 ? raise_row_avx2 : raise_row_plain;
const auto from_here = has_avx2 ? lanes_from_avx2 : lanes_from_plain;
#else
constexpr auto join_here = join_rows_plain;
constexpr auto raise_here = raise_row_plain;
constexpr auto from_here = lanes_from_plain;
#endif

}  // namespace

LaneJoin join_lanes(const LaneEpochs& a, const LaneEpochs& b, LaneEpochs& both) {
  return join_here(a, b, both);
}
void raise_lanes(LaneEpochs& of, Mask mask, Epoch epoch) { raise_here(of, mask, epoch); }
Mask lanes_from(const LaneEpochs& of, Epoch epoch) { return from_here(of, epoch); }

}  // namespace inflight::order
