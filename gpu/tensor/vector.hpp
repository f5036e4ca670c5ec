// As many lanes at once as a register of the instruction set has. Included only by files that are
// compiled once an instruction set, so everything here lives in namespace INFLIGHT_ISA.
#pragma once
#include <cstdint>
#include <cstring>

#include "gpu/tensor/element.hpp"

#ifdef __AVX2__
#  include <immintrin.h>
#endif

#ifndef INFLIGHT_ISA
#  define INFLIGHT_ISA isa_baseline
#endif

namespace inflight::tensor::INFLIGHT_ISA {

#if defined __AVX512F__
constexpr int lanes = 16;
#elif defined __AVX2__
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif
using Floats [[gnu::vector_size(4 * lanes)]] = float;
using Ints [[gnu::vector_size(4 * lanes)]] = std::int32_t;
using Bits [[gnu::vector_size(4 * lanes)]] = std::uint32_t;
using Shorts [[gnu::vector_size(4 * lanes)]] = std::int16_t;  // two a lane

// A vector in memory of any alignment.
template <class V>
[[gnu::always_inline]] inline V load(const void* at) {
  V v;
  std::memcpy(&v, at, sizeof v);
  return v;
}
template <class V>
[[gnu::always_inline]] inline void store(void* at, V v) {
  std::memcpy(at, &v, sizeof v);
}
template <class To, class From>
[[gnu::always_inline]] inline To as(From v) {
  return __builtin_bit_cast(To, v);
}
[[gnu::always_inline]] inline Ints truncated(Floats v) { return __builtin_convertvector(v, Ints); }
[[gnu::always_inline]] inline Floats to_floats(Ints v) {
  return __builtin_convertvector(v, Floats);
}
[[gnu::always_inline]] inline Shorts larger(Shorts a, Shorts b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Ints larger(Ints a, Ints b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Ints smaller(Ints a, Ints b) { return a < b ? a : b; }
[[gnu::always_inline]] inline Ints pick(Ints condition, Ints yes, Ints no) {
  return (condition & yes) | (~condition & no);
}
// Two small numbers a lane.
[[gnu::always_inline]] inline Ints pair_of(Ints low, Ints high) {
  return (low & 0xffff) | high << 16;
}
[[gnu::always_inline]] inline Ints low_of(Ints pair) { return pair << 16 >> 16; }
[[gnu::always_inline]] inline Ints high_of(Ints pair) { return pair >> 16; }

// A word of each of as many rows as there are lanes, of which the last is row `last`.
[[gnu::always_inline]] inline Bits word_of_rows(const void* rows, int words_a_row, int first,
                                                int last, int word) {
  Ints index;
  for (int l = 0; l < lanes; ++l) index[l] = l;
  index = smaller(index, Ints{} + (last - first)) * words_a_row;
  const auto* const from =
      static_cast<const std::int32_t*>(rows) + std::ptrdiff_t{first} * words_a_row + word;
#if defined __AVX512F__
  return as<Bits>(_mm512_mask_i32gather_epi32(__m512i{}, 0xffff, as<__m512i>(index), from, 4));
#elif defined __AVX2__
  return as<Bits>(_mm256_i32gather_epi32(from, as<__m256i>(index), 4));
#else
  Bits bits;
  for (int l = 0; l < lanes; ++l) bits[l] = static_cast<std::uint32_t>(from[index[l]]);
  return bits;
#endif
}
// Of a comparison: does it hold for any lane?
[[gnu::always_inline]] inline bool any(Ints condition) {
#if defined __AVX512F__
  return _mm512_test_epi32_mask(as<__m512i>(condition), as<__m512i>(condition)) != 0;
#elif defined __AVX2__
  return !_mm256_testz_si256(as<__m256i>(condition), as<__m256i>(condition));
#else
  std::int32_t all = 0;
  for (int l = 0; l < lanes; ++l) all |= condition[l];
  return all != 0;
#endif
}

}  // namespace inflight::tensor::INFLIGHT_ISA
