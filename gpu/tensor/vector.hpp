// SIMD vectors as wide as a register of the instruction set. Included only by files that are
// compiled once for each instruction set, so everything here is in namespace INFLIGHT_ISA.
#pragma once
#include <cstdint>
#include <cstring>
#include <utility>

#include "gpu/tensor/element.hpp"

#ifdef __SSE2__
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
using Shorts [[gnu::vector_size(4 * lanes)]] = std::int16_t;  // two per lane
using Bytes [[gnu::vector_size(4 * lanes)]] = signed char;    // four per lane

// Load and store a vector at any alignment.
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
[[gnu::always_inline]] inline Bytes larger(Bytes a, Bytes b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Ints larger(Ints a, Ints b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Bits larger(Bits a, Bits b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Bits smaller(Bits a, Bits b) { return a < b ? a : b; }
[[gnu::always_inline]] inline Ints smaller(Ints a, Ints b) { return a < b ? a : b; }
[[gnu::always_inline]] inline Ints pick(Ints condition, Ints yes, Ints no) {
  return (condition & yes) | (~condition & no);
}
// Pack four one-byte numbers into each lane, and extract one of them.
[[gnu::always_inline]] inline Ints four_of(Ints a, Ints b, Ints c, Ints d) {
  return (a & 0xff) | (b & 0xff) << 8 | (c & 0xff) << 16 | d << 24;
}
[[gnu::always_inline]] inline Ints one_of(Ints four, int which) {
  return four << (24 - 8 * which) >> 24;
}
[[gnu::always_inline]] inline Bytes saturated_sum(Bytes a, Bytes b) {
#if defined __AVX512F__
  return as<Bytes>(_mm512_adds_epi8(as<__m512i>(a), as<__m512i>(b)));
#elif defined __AVX2__
  return as<Bytes>(_mm256_adds_epi8(as<__m256i>(a), as<__m256i>(b)));
#elif defined __SSE2__
  return as<Bytes>(_mm_adds_epi8(as<__m128i>(a), as<__m128i>(b)));
#else
  Bytes sums;
  for (int i = 0; i < 4 * lanes; ++i) {
    const int sum = a[i] + b[i];
    sums[i] = static_cast<signed char>(sum < -128 ? -128 : sum > 127 ? 127 : sum);
  }
  return sums;
#endif
}

// Multiplies 16-bit elements and adds the two products of each lane.
[[gnu::always_inline]] inline Ints sum_of_products(Shorts a, Shorts b) {
#if defined __AVX512F__
  return as<Ints>(_mm512_madd_epi16(as<__m512i>(a), as<__m512i>(b)));
#elif defined __AVX2__
  return as<Ints>(_mm256_madd_epi16(as<__m256i>(a), as<__m256i>(b)));
#elif defined __SSE2__
  return as<Ints>(_mm_madd_epi16(as<__m128i>(a), as<__m128i>(b)));
#else
  Ints sums;
  for (int l = 0; l < lanes; ++l) sums[l] = a[2 * l] * b[2 * l] + a[2 * l + 1] * b[2 * l + 1];
  return sums;
#endif
}

// --- words of `lanes` rows ---

using Lanes = std::make_integer_sequence<int, lanes>;
// Returns the elements with even or odd indices of the concatenation of two vectors.
template <int odd, int... i>
[[gnu::always_inline]] inline Bits every_other(Bits a, Bits b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, 2 * i + odd...);
}
// Transposes consecutive rows of `words` words into one vector of rows for each word. Each step
// moves the lowest bit of an element's index to the top.
template <int words>
[[gnu::always_inline]] inline void transpose(Bits (&v)[words]) {
  for (int done = 1; done < words; done *= 2) {
    Bits next[words];
    for (int i = 0; i < words / 2; ++i) {
      next[i] = every_other<0>(v[2 * i], v[2 * i + 1], Lanes{});
      next[words / 2 + i] = every_other<1>(v[2 * i], v[2 * i + 1], Lanes{});
    }
    for (int i = 0; i < words; ++i) v[i] = next[i];
  }
}
// Reduces the lanes to one with choose(a, b).
template <class Choose>
[[gnu::always_inline]] inline std::uint32_t chosen_lane(Bits v, Choose choose) {
  for (int left = lanes; left > 1; left /= 2)
    v = choose(every_other<0>(v, v, Lanes{}), every_other<1>(v, v, Lanes{}));
  return v[0];
}

// Gathers one word of each of `lanes` rows from row `first` on. Rows after `last` repeat it.
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
// Gathers all words of `lanes` rows from row `first` on. Rows after `last` repeat it.
[[gnu::always_inline]] inline void words_of_rows(const void* rows, int words_a_row, int first,
                                                 int last, Bits* out) {
  constexpr int usual = 8;  // 32 bytes of A
  if (words_a_row == usual && first + lanes <= last + 1) {
    const auto* const from = static_cast<const std::uint32_t*>(rows) + first * usual;
    Bits words[usual];
    for (int i = 0; i < usual; ++i) words[i] = load<Bits>(from + i * lanes);
    transpose(words);
    for (int i = 0; i < usual; ++i) out[i] = words[i];
    return;
  }
  for (int w = 0; w < words_a_row; ++w) out[w] = word_of_rows(rows, words_a_row, first, last, w);
}
// Is a condition true in any lane? It is true if the sign bit is set, as comparisons set it.
[[gnu::always_inline]] inline bool any(Ints condition) {
#if defined __AVX512F__
  return _mm512_movepi32_mask(as<__m512i>(condition)) != 0;
#elif defined __AVX2__
  return _mm256_movemask_ps(as<__m256>(condition)) != 0;
#else
  std::int32_t all = 0;
  for (int l = 0; l < lanes; ++l) all |= condition[l];
  return all < 0;
#endif
}

}  // namespace inflight::tensor::INFLIGHT_ISA
