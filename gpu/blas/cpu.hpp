// The CPU's BLAS: a shared library with the Fortran interface, opened at its first use.
#pragma once
#include <complex>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "gpu/blas/abi.hpp"

namespace inflight::blas::cpu {

// True if a BLAS is found. If not, a message says once what to install.
bool found();
// Returns the function of a routine such as "dgemm", or null if it or the library is missing. The
// first call reports which library's rounding the results have.
using Function = void (*)();
Function find(char letter, std::string_view routine);

template <class T>
constexpr char letter() {
  if constexpr (std::is_same_v<T, float>) return 's';
  if constexpr (std::is_same_v<T, double>) return 'd';
  if constexpr (std::is_same_v<T, Complex>) return 'c';
  return 'z';
}

// Converts an argument for Fortran, which takes addresses, and sizes of 32 bits.
template <class T>
struct Argument {
  T value;
  const T* operator()() const { return &value; }
};
template <>
struct Argument<Size> {
  explicit Argument(Size size) : value(int(size)) {}
  int value;
  const int* operator()() const { return &value; }
};
template <class T>
struct Argument<T*> {
  T* value;
  T* operator()() const { return value; }
};

// Calls the routine for T. Returns false if the library lacks it.
template <class T, class... Arguments>
bool call(std::string_view routine, Arguments... arguments) {
  const Function function = find(letter<T>(), routine);
  if (!function) return false;
  // Fortran compilers append the length of each character argument. Routines have at most four.
  const auto with = [&](auto... each) {
    reinterpret_cast<void (*)(decltype(each())..., std::size_t, std::size_t, std::size_t,
                              std::size_t)>(function)(each()..., 1, 1, 1, 1);
  };
  with(Argument<Arguments>{arguments}...);
  return true;
}

}  // namespace inflight::blas::cpu
