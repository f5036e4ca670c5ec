// Loops over a warp's lanes that the compiler turns into SIMD. Only family files include this. They
// are compiled once for each instruction set, so everything here is in namespace INFLIGHT_ISA. Such
// files use no inline code of the standard library's containers: the linker could otherwise share
// code compiled for a newer instruction set with the rest of the program.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gpu/machine/lowering/row.hpp"
#include "gpu/machine/run/warp.hpp"

#ifndef INFLIGHT_ISA
#  define INFLIGHT_ISA isa_baseline
#endif

namespace inflight::machine::INFLIGHT_ISA {

// Of each lane, all ones if its bit in `mask` is set. Compilers do not make vectors of choices
// between elements of fewer than 32 bits by bits of a mask, but of these.
template <class T>
struct Chosen {
  alignas(64) T of[lanes];
  explicit Chosen(std::uint32_t mask) {
    alignas(64) std::uint32_t wide[lanes];
    for (int l = 0; l < lanes; ++l) wide[l] = 0u - (mask >> l & 1);
    for (int l = 0; l < lanes; ++l) of[l] = static_cast<T>(wide[l]);
  }
  T pick(int l, T chosen, T other) const {
    return static_cast<T>((chosen & of[l]) | (other & static_cast<T>(~of[l])));
  }
};
template <class T>
inline constexpr bool is_narrow = std::is_integral_v<T> && sizeof(T) < 4;

// out[lane] = f(lane) for the active lanes. f is evaluated for all 32 lanes, so it must accept any
// values: no memory access, no trap.
template <class T, class F>
[[gnu::always_inline]] inline void write(Warp& w, Ref d, F f) {
  T* out = w.at<T>(d);
  if (w.whole) [[likely]] {
#pragma GCC ivdep
    for (int l = 0; l < lanes; ++l) out[l] = f(l);
  } else if constexpr (is_narrow<T>) {
    const Chosen<T> active(w.mask);
    alignas(64) T now[lanes];
#pragma GCC ivdep
    for (int l = 0; l < lanes; ++l) now[l] = static_cast<T>(f(l));
#pragma GCC ivdep
    for (int l = 0; l < lanes; ++l) out[l] = active.pick(l, now[l], out[l]);
  } else {
    const std::uint32_t m = w.mask;
#pragma GCC ivdep
    for (int l = 0; l < lanes; ++l) out[l] = (m >> l) & 1 ? static_cast<T>(f(l)) : out[l];
  }
}

// Bit l is f(l).
template <class F>
[[gnu::always_inline]] inline std::uint32_t bits(F f) {
  std::uint32_t m = 0;
  for (int l = 0; l < lanes; ++l) m |= f(l) ? 1u << l : 0u;
  return m;
}

// d = f(a), d = f(a, b), d = f(a, b, c), lane by lane. F is a stateless callable type.
template <class D, class A, class F>
const Op* unary(Warp& w, const Op* op) {
  const A* a = w.at<A>(op->a);
  write<D>(w, op->d, [=](int l) { return F{}(a[l]); });
  return op + 1;
}
template <class D, class A, class B, class F>
const Op* binary(Warp& w, const Op* op) {
  const A* a = w.at<A>(op->a);
  const B* b = w.at<B>(op->b);
  write<D>(w, op->d, [=](int l) { return F{}(a[l], b[l]); });
  return op + 1;
}
template <class D, class A, class B, class C, class F>
const Op* ternary(Warp& w, const Op* op) {
  const A* a = w.at<A>(op->a);
  const B* b = w.at<B>(op->b);
  const C* c = w.at<C>(op->c);
  write<D>(w, op->d, [=](int l) { return F{}(a[l], b[l], c[l]); });
  return op + 1;
}

}  // namespace inflight::machine::INFLIGHT_ISA
