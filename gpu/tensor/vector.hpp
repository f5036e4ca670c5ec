// Sixteen lanes at once, whatever the instruction set has: the compiler makes of these types what
// it can. Included only by files that are compiled once an instruction set, so everything here
// lives in namespace INFLIGHT_ISA.
#pragma once
#include <cstdint>
#include <cstring>

#include "gpu/tensor/element.hpp"

#ifndef INFLIGHT_ISA
#  define INFLIGHT_ISA isa_baseline
#endif

namespace inflight::tensor::INFLIGHT_ISA {

constexpr int lanes = 16;
using Floats [[gnu::vector_size(64)]] = float;
using Ints [[gnu::vector_size(64)]] = std::int32_t;
using Bits [[gnu::vector_size(64)]] = std::uint32_t;

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
inline bool any(Ints condition) {
  std::int32_t all = 0;
  for (int l = 0; l < lanes; ++l) all |= condition[l];
  return all != 0;
}

}  // namespace inflight::tensor::INFLIGHT_ISA
