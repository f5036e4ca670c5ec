// The CPU's BLAS: a shared library with the Fortran interface, found when a call first needs it.
#pragma once
#include <complex>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "gpu/blas/abi.hpp"

namespace inflight::blas::cpu {

// Is there one? If not, a line says what to install, once.
bool found();
// Its function for a routine such as "dgemm"; null: it has none, or there is no library. Says once
// whose rounding results have.
using Function = void (*)();
Function find(char letter, std::string_view routine);

template <class T>
constexpr char letter() {
  if constexpr (std::is_same_v<T, float>) return 's';
  if constexpr (std::is_same_v<T, double>) return 'd';
  if constexpr (std::is_same_v<T, Complex>) return 'c';
  return 'z';
}

// What becomes of an argument: Fortran takes addresses, of sizes 32 bits wide.
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

// Calls the routine for T. False if it is not there.
template <class T, class... Arguments>
bool call(std::string_view routine, Arguments... arguments) {
  const Function function = find(letter<T>(), routine);
  if (!function) return false;
  // Behind them a Fortran compiler passes the length of each character argument: at most four.
  const auto with = [&](auto... each) {
    reinterpret_cast<void (*)(decltype(each())..., std::size_t, std::size_t, std::size_t,
                              std::size_t)>(function)(each()..., 1, 1, 1, 1);
  };
  with(Argument<Arguments>{arguments}...);
  return true;
}

}  // namespace inflight::blas::cpu
