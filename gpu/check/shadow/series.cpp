// Compares addresses with a series, using AVX2 if the host has it. Every access goes through here.
#include "gpu/check/shadow/series.hpp"

#ifdef __x86_64__
#  include <immintrin.h>
#endif

namespace inflight::shadow {
namespace {

using order::Mask;

Mask one_by_one(const std::uint64_t* addresses, std::uint64_t origin, std::uint64_t step) {
  Mask found = 0;
  for (unsigned l = 0; l < order::lanes; ++l, origin += step)
    found |= Mask{addresses[l] == origin} << l;
  return found;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) Mask four_at_a_time(const std::uint64_t* addresses,
                                                    std::uint64_t origin, std::uint64_t step) {
  const auto at = [&](std::uint64_t lane) { return static_cast<long long>(origin + lane * step); };
  __m256i expected = _mm256_setr_epi64x(at(0), at(1), at(2), at(3));
  const __m256i four = _mm256_set1_epi64x(static_cast<long long>(4 * step));
  Mask found = 0;
  for (unsigned l = 0; l < order::lanes; l += 4) {
    const __m256i there = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(addresses + l));
    const __m256d same = _mm256_castsi256_pd(_mm256_cmpeq_epi64(there, expected));
    found |= static_cast<Mask>(_mm256_movemask_pd(same)) << l;
    expected = _mm256_add_epi64(expected, four);
  }
  return found;
}

const auto lanes_in_series = __builtin_cpu_supports("avx2") ? four_at_a_time : one_by_one;
#else
constexpr auto lanes_in_series = one_by_one;
#endif

}  // namespace

Mask lanes_of(const std::uint64_t* addresses, std::uint64_t origin, std::uint64_t step) {
  return lanes_in_series(addresses, origin, step);
}

}  // namespace inflight::shadow
