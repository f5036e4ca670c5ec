// Moves between memory, where the N elements of a lane are adjacent, and registers, where one
// element of all lanes is. Included only by files compiled for each instruction set, like
// lanes.hpp.
#pragma once
#include <utility>

#include "gpu/machine/families/lanes.hpp"

namespace inflight::machine::INFLIGHT_ISA {

#if defined(__AVX512BW__)
constexpr unsigned vector_bytes = 64;
#elif defined(__AVX2__)
constexpr unsigned vector_bytes = 32;
#else
constexpr unsigned vector_bytes = 16;
#endif

// A host vector of values of U, at most 16.
template <class U>
struct Values {
  static constexpr unsigned count = vector_bytes / sizeof(U) < 16 ? vector_bytes / sizeof(U) : 16;
  typedef U Vector [[gnu::vector_size(count * sizeof(U))]];
  typedef U Unaligned [[gnu::vector_size(count * sizeof(U)), gnu::aligned(1), gnu::may_alias]];
};

// Every second value of a and b, starting at the first (parity 0) or the second (1).
template <int parity, class V, unsigned... I>
[[gnu::always_inline]] inline V every_second(V a, V b, std::integer_sequence<unsigned, I...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(2 * I + parity)...);
}
// The values of the first (part 0) or second (1) halves of a and b, alternating.
template <int part, class V, unsigned... I>
[[gnu::always_inline]] inline V zip(V a, V b, std::integer_sequence<unsigned, I...>) {
  constexpr int n = sizeof...(I);
  return __builtin_shufflevector(a, b, static_cast<int>(I / 2 + part * n / 2 + I % 2 * n)...);
}

template <int N, class U, class V>
[[gnu::always_inline]] inline void deinterleave(const V (&in)[N], V (&out)[N]) {
  if constexpr (N == 1) {
    out[0] = in[0];
  } else {
    constexpr std::make_integer_sequence<unsigned, Values<U>::count> all;
    V even[N / 2], odd[N / 2], evens[N / 2], odds[N / 2];
    for (int i = 0; i < N / 2; ++i) {
      even[i] = every_second<0>(in[2 * i], in[2 * i + 1], all);
      odd[i] = every_second<1>(in[2 * i], in[2 * i + 1], all);
    }
    deinterleave<N / 2, U>(even, evens);
    deinterleave<N / 2, U>(odd, odds);
    for (int i = 0; i < N / 2; ++i) out[2 * i] = evens[i], out[2 * i + 1] = odds[i];
  }
}
template <int N, class U, class V>
[[gnu::always_inline]] inline void interleave(const V (&in)[N], V (&out)[N]) {
  if constexpr (N == 1) {
    out[0] = in[0];
  } else {
    constexpr std::make_integer_sequence<unsigned, Values<U>::count> all;
    V even[N / 2], odd[N / 2], evens[N / 2], odds[N / 2];
    for (int i = 0; i < N / 2; ++i) even[i] = in[2 * i], odd[i] = in[2 * i + 1];
    interleave<N / 2, U>(even, evens);
    interleave<N / 2, U>(odd, odds);
    for (int i = 0; i < N / 2; ++i) {
      out[2 * i] = zip<0>(evens[i], odds[i], all);
      out[2 * i + 1] = zip<1>(evens[i], odds[i], all);
    }
  }
}

// Splits 16 lanes of N values each at `from` into to[0..N) of 16 values each.
template <class U, int N>
[[gnu::always_inline]] inline void split(const char* from, U* const (&to)[N]) {
  using Vs = Values<U>;
  for (unsigned l = 0; l < 16; l += Vs::count, from += N * sizeof(typename Vs::Vector)) {
    typename Vs::Vector in[N], out[N];
    for (int i = 0; i < N; ++i) in[i] = reinterpret_cast<const typename Vs::Unaligned*>(from)[i];
    deinterleave<N, U>(in, out);
    for (int i = 0; i < N; ++i) *reinterpret_cast<typename Vs::Unaligned*>(to[i] + l) = out[i];
  }
}
// The reverse of split.
template <class U, int N>
[[gnu::always_inline]] inline void join(const U* const (&from)[N], char* to) {
  using Vs = Values<U>;
  for (unsigned l = 0; l < 16; l += Vs::count, to += N * sizeof(typename Vs::Vector)) {
    typename Vs::Vector in[N], out[N];
    for (int i = 0; i < N; ++i)
      in[i] = *reinterpret_cast<const typename Vs::Unaligned*>(from[i] + l);
    interleave<N, U>(in, out);
    for (int i = 0; i < N; ++i) reinterpret_cast<typename Vs::Unaligned*>(to)[i] = out[i];
  }
}

}  // namespace inflight::machine::INFLIGHT_ISA
