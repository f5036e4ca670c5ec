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
[[gnu::always_inline]] inline Ints larger(Ints a, Ints b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Ints smaller(Ints a, Ints b) { return a < b ? a : b; }
[[gnu::always_inline]] inline Ints pick(Ints condition, Ints yes, Ints no) {
  return (condition & yes) | (~condition & no);
}
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
inline bool any(Ints condition) {
  std::int32_t all = 0;
  for (int l = 0; l < lanes; ++l) all |= condition[l];
  return all != 0;
}

}  // namespace inflight::tensor::INFLIGHT_ISA
