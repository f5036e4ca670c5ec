// Builds predicates, with a bit for each lane's comparison.
#pragma once
#if defined(__SSE2__)
#  include <immintrin.h>
#endif

#include "gpu/machine/families/rows.hpp"

namespace inflight::machine::INFLIGHT_ISA {

// Bit l is the sign of flags[l]. `flags`: 32 values of 1, 2, 4 or 8 bytes, aligned to a cache line.
template <class T>
[[gnu::always_inline]] inline std::uint32_t signs(const T* flags) {
  std::uint32_t m = 0;
#if defined(__AVX512BW__) && defined(__AVX512DQ__)
  constexpr int step = 64 / sizeof(T) < lanes ? 64 / sizeof(T) : lanes;
  for (int l = 0; l < lanes; l += step) {
    if constexpr (sizeof(T) == 1)
      m |= _mm256_movemask_epi8(_mm256_load_si256(reinterpret_cast<const __m256i*>(flags)));
    else {
      const __m512i v = _mm512_load_si512(flags + l);
      if constexpr (sizeof(T) == 2) m |= _mm512_movepi16_mask(v);
      if constexpr (sizeof(T) == 4) m |= std::uint32_t{_mm512_movepi32_mask(v)} << l;
      if constexpr (sizeof(T) == 8) m |= std::uint32_t{_mm512_movepi64_mask(v)} << l;
    }
  }
#elif defined(__SSE2__)
  constexpr int step = sizeof(T) <= 2 ? 16 : 16 / sizeof(T);
  for (int l = 0; l < lanes; l += step) {
    const auto load = [&](int at) {
      return _mm_load_si128(reinterpret_cast<const __m128i*>(flags + at));
    };
    int part = 0;
    if constexpr (sizeof(T) == 1) part = _mm_movemask_epi8(load(l));
    if constexpr (sizeof(T) == 2) part = _mm_movemask_epi8(_mm_packs_epi16(load(l), load(l + 8)));
    if constexpr (sizeof(T) == 4) part = _mm_movemask_ps(_mm_castsi128_ps(load(l)));
    if constexpr (sizeof(T) == 8) part = _mm_movemask_pd(_mm_castsi128_pd(load(l)));
    m |= static_cast<std::uint32_t>(part) << l;
  }
#else
  for (int l = 0; l < lanes; ++l) m |= static_cast<std::uint32_t>((flags[l] & 1) << l);
#endif
  return m;
}

// Bit l is f(l). T should be as wide as the values that f compares, for the best code.
template <class T, class F>
[[gnu::always_inline]] inline std::uint32_t lane_bits(F f) {
  using Flag = SignedOf<T>;
  alignas(64) Flag flags[lanes];
#pragma GCC ivdep
  for (int l = 0; l < lanes; ++l) flags[l] = f(l) ? Flag{-1} : Flag{0};
  return signs(flags);
}

}  // namespace inflight::machine::INFLIGHT_ISA
