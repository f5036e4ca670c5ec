// Level 1: the computations of its routines on vectors with increments.
#pragma once
#include <cmath>

#include "gpu/blas/numbers.hpp"

namespace inflight::blas {

// A vector in BLAS's form. With a negative increment it begins at its last element.
template <class T>
struct Vector {
  T* data;
  Size n, increment;
  T& operator[](Size i) const {
    return data[increment < 0 ? (i + 1 - n) * increment : i * increment];
  }
};

// Sums of float products are kept as double, which is more exact than any order on a GPU.
template <class T>
struct SumOf {
  using Type = T;
};
template <>
struct SumOf<float> {
  using Type = double;
};
template <>
struct SumOf<Complex> {
  using Type = DoubleComplex;
};
template <class T>
using Sum = typename SumOf<T>::Type;

template <class T>
T dot(Vector<const T> x, Vector<const T> y, bool conjugated) {
  Sum<T> sum{};
  for (Size i = 0; i < x.n; ++i) sum += Sum<T>(conjugated ? conjugate(x[i]) : x[i]) * Sum<T>(y[i]);
  return T(sum);
}

template <class T>
Real<T> euclidean_norm(Vector<const T> x) {
  // Its range holds every square.
  using Wide = std::conditional_t<std::is_same_v<Real<T>, float>, double, long double>;
  Wide sum = 0;
  const auto add = [&](auto part) { sum += static_cast<Wide>(part) * part; };
  for (Size i = 0; i < x.n; ++i) {
    if constexpr (is_complex<T>)
      add(x[i].real()), add(x[i].imag());
    else
      add(x[i]);
  }
  return Real<T>(std::sqrt(sum));
}

template <class T>
Real<T> magnitude(T value) {
  if constexpr (is_complex<T>)
    return std::fabs(value.real()) + std::fabs(value.imag());
  else
    return std::fabs(value);
}

template <class T>
Real<T> absolute_sum(Vector<const T> x) {
  Sum<Real<T>> sum = 0;
  for (Size i = 0; i < x.n; ++i) sum += magnitude(x[i]);
  return Real<T>(sum);
}

// Index from 1 of the first best element, or 0 if the vector is empty.
template <class T, class Better>
Size extreme(Vector<const T> x, Better better) {
  Size best = 0;
  for (Size i = 1; i < x.n; ++i)
    if (better(magnitude(x[i]), magnitude(x[best]))) best = i;
  return x.n > 0 ? best + 1 : 0;
}

template <class T, class C, class S>
void rotate(Vector<T> x, Vector<T> y, C c, S s) {
  for (Size i = 0; i < x.n; ++i) {
    const T a = x[i], b = y[i];
    x[i] = c * a + s * b;
    y[i] = c * b - conjugate(s) * a;
  }
}

// The parameters of a modified rotation: a flag, then h11, h21, h12, h22 (BLAS, xROTM).
template <class T>
void rotate_modified(Vector<T> x, Vector<T> y, const T* p) {
  if (p[0] == T(-2)) return;
  const T h11 = p[0] == T(0) ? T(1) : p[1], h21 = p[0] == T(1) ? T(-1) : p[2],
          h12 = p[0] == T(1) ? T(1) : p[3], h22 = p[0] == T(0) ? T(1) : p[4];
  for (Size i = 0; i < x.n; ++i) {
    const T a = x[i], b = y[i];
    x[i] = h11 * a + h12 * b;
    y[i] = h21 * a + h22 * b;
  }
}

}  // namespace inflight::blas
