// Element types: their sizes, and conversion of their values to the type of a computation.
#pragma once
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "gpu/blas/abi.hpp"
#include "gpu/numbers/small_floats.hpp"

namespace inflight::blas {

// Format: numbers::F16 or numbers::Bf16.
template <class Format>
struct Float16 {
  std::uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value) : bits(std::uint16_t(Format::round(value))) {}
  explicit operator float() const { return Format::value(bits); }
};
using Half = Float16<numbers::F16>;
using Bfloat = Float16<numbers::Bf16>;

// 8-bit floats (OCP 8-bit Floating Point Specification).
template <int Exponent, int Mantissa, bool Infinity>
struct Float8 {
  std::uint8_t bits = 0;
  Float8() = default;
  explicit Float8(float value);
  explicit operator float() const;

 private:
  static constexpr int bias = (1 << (Exponent - 1)) - 1;
  static constexpr int magnitude_mask = 0x7f;
  // The bits of the greatest finite number.
  static constexpr int greatest =
      Infinity ? ((((1 << Exponent) - 1) << Mantissa) - 1) : magnitude_mask - 1;
};
using E4m3 = Float8<4, 3, false>;
using E5m2 = Float8<5, 2, true>;

template <int E, int M, bool I>
Float8<E, M, I>::operator float() const {
  const int magnitude = bits & magnitude_mask, exponent = magnitude >> M,
            mantissa = magnitude & ((1 << M) - 1);
  float value = exponent == 0 ? std::ldexp(float(mantissa), 1 - bias - M)
                              : std::ldexp(float(mantissa | 1 << M), exponent - bias - M);
  if (magnitude > greatest) value = I && mantissa == 0 ? HUGE_VALF : NAN;
  return bits & 0x80 ? -value : value;
}

// Rounds to nearest, ties to even. Values past the greatest number become it, as in cublasLt.
template <int E, int M, bool I>
Float8<E, M, I>::Float8(float value) {
  const int sign = std::signbit(value) ? 0x80 : 0;
  const float size = std::fabs(value);
  if (size != size) {
    bits = std::uint8_t(sign | magnitude_mask);
    return;
  }
  int exponent = size == 0 ? 1 - bias : std::max(std::ilogb(size), 1 - bias);
  const float steps = std::nearbyint(std::ldexp(size, M - std::min(exponent, bias + 2)));
  int magnitude = ((std::min(exponent, bias + 2) + bias - 1) << M) + int(std::min(steps, 1e6f));
  bits = std::uint8_t(sign | std::min(magnitude, greatest));
}

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;
// The real type of a number: float for both complex<float> and float.
template <class T>
struct RealOf {
  using Type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using Type = T;
};
template <class T>
using Real = typename RealOf<T>::Type;

template <class T>
T conjugate(T value) {
  if constexpr (is_complex<T>)
    return std::conj(value);
  else
    return value;
}

// Calls visit(T{}) with the C++ type of an element type. Returns false if there is none.
template <class Visit>
bool with_type(Type type, Visit visit) {
  switch (type) {
    case Type::f32:
      return visit(float{}), true;
    case Type::f64:
      return visit(double{}), true;
    case Type::f16:
      return visit(Half{}), true;
    case Type::bf16:
      return visit(Bfloat{}), true;
    case Type::i8:
      return visit(std::int8_t{}), true;
    case Type::i32:
      return visit(std::int32_t{}), true;
    case Type::c32:
      return visit(Complex{}), true;
    case Type::c64:
      return visit(DoubleComplex{}), true;
    case Type::e4m3:
      return visit(E4m3{}), true;
    case Type::e5m2:
      return visit(E5m2{}), true;
  }
  return false;
}

inline std::size_t bytes_of(Type type) {
  std::size_t bytes = 0;
  with_type(type, [&](auto element) { bytes = sizeof element; });
  return bytes;
}
inline bool complex_type(Type type) { return type == Type::c32 || type == Type::c64; }

template <class To, class From>
To number(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (is_complex<From> && is_complex<To>) {
    return To(Real<To>(from.real()), Real<To>(from.imag()));
  } else if constexpr (is_complex<From>) {
    return number<To>(from.real());
  } else if constexpr (is_complex<To>) {
    return To(number<Real<To>>(from));
  } else if constexpr (std::is_arithmetic_v<From>) {
    if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
      // Rounds to nearest. 8-bit results saturate, 32-bit ones wrap.
      const double value = std::nearbyint(double(from));
      if constexpr (sizeof(To) == 1)
        return To(std::fmin(std::fmax(value, -128.0), 127.0));
      else
        return To(std::uint32_t(std::int64_t(value)));
    } else if constexpr (std::is_arithmetic_v<To>) {
      return To(from);
    } else {
      return To(float(from));
    }
  } else {
    return number<To>(float(from));
  }
}

}  // namespace inflight::blas
