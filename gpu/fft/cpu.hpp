// The CPU's FFTW: shared libraries with its interface, opened at their first use.
#pragma once
#include <cstddef>
#include <mutex>

namespace inflight::fft::cpu {

// fftw_iodim64: the size of a dimension and its strides in elements of each side.
struct Dimension {
  std::ptrdiff_t size = 1, in = 0, out = 0;
};

// Flags of the planner.
inline constexpr unsigned unaligned = 1u << 1, preserve_input = 1u << 4, estimate = 1u << 6;

// FFTW's functions for float or double. A complex number is two reals.
template <class Real>
struct Functions {
  using Plan = void*;
  Plan (*plan)(int rank, const Dimension*, int loops, const Dimension*, Real* in, Real* out,
               int sign, unsigned flags) = nullptr;
  Plan (*plan_forward)(int rank, const Dimension*, int loops, const Dimension*, Real* in, Real* out,
                       unsigned flags) = nullptr;
  Plan (*plan_inverse)(int rank, const Dimension*, int loops, const Dimension*, Real* in, Real* out,
                       unsigned flags) = nullptr;
  void (*execute)(Plan, Real* in, Real* out) = nullptr;
  void (*execute_forward)(Plan, Real* in, Real* out) = nullptr;
  void (*execute_inverse)(Plan, Real* in, Real* out) = nullptr;
  void (*destroy)(Plan) = nullptr;
  int (*alignment)(Real*) = nullptr;  // null: the library has no such function
};

// Null if no library has the functions: a message then says once what to install. The first call
// that finds one reports whose rounding the results have.
template <class Real>
const Functions<Real>* functions();

// Only one thread at a time may make or destroy plans.
std::mutex& planner();

}  // namespace inflight::fft::cpu
