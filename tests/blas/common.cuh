// Shared by the cuBLAS tests: inputs, and comparison of results with those of plain loops.
#pragma once
#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

using C = std::complex<float>;
using Z = std::complex<double>;

inline int failures = 0;
inline void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::printf("wrong: %s\n", what);
}
inline int finish() {
  std::printf(failures ? "%d wrong\n" : "all as plain loops have it\n", failures);
  return failures != 0;
}
#define GOOD(call) expect((call) == CUBLAS_STATUS_SUCCESS, #call)
#define IS(status, call) expect((call) == (status), #call)

// The cuBLAS type for a C++ type.
template <class T>
auto* raw(T* p) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, C>)
    return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const cuComplex, cuComplex>*>(p);
  else if constexpr (std::is_same_v<std::remove_const_t<T>, Z>)
    return reinterpret_cast<
        std::conditional_t<std::is_const_v<T>, const cuDoubleComplex, cuDoubleComplex>*>(p);
  else
    return p;
}

template <class T>
constexpr bool is_complex = std::is_same_v<T, C> || std::is_same_v<T, Z>;

// Element i of a sequence of small numbers.
template <class T>
T sample(int i) {
  const double a = (i * 37 % 19 - 9) / 8.0, b = (i * 53 % 17 - 8) / 8.0;
  if constexpr (is_complex<T>)
    return T(a, b);
  else
    return T(a);
}
template <class T>
std::vector<T> samples(int n, int from = 0) {
  std::vector<T> result(n);
  for (int i = 0; i < n; ++i) result[i] = sample<T>(from + i);
  return result;
}

// Device memory with a vector's contents.
template <class T>
struct On {
  T* data = nullptr;
  int n = 0;
  explicit On(const std::vector<T>& from) : n(int(from.size())) {
    cudaMalloc(&data, n * sizeof(T));
    cudaMemcpy(data, from.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~On() { cudaFree(data); }
  On(const On&) = delete;
  auto* operator*() const { return raw(data); }
  std::vector<T> host() const {
    std::vector<T> result(n);
    cudaMemcpy(result.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost);
    return result;
  }
};

template <class T>
bool near(T a, T b) {
  using Real = decltype(std::abs(a));
  const double bound = std::is_same_v<Real, double> ? 1e-11 : 2e-4;
  return double(std::abs(a - b)) <= bound * (1 + double(std::abs(b)));
}
template <class T>
void same(const std::vector<T>& got, const std::vector<T>& wanted, const char* what) {
  bool good = got.size() == wanted.size();
  for (std::size_t i = 0; good && i < got.size(); ++i) good = near(got[i], wanted[i]);
  expect(good, what);
}

template <class T>
T conjugate(T a) {
  if constexpr (is_complex<T>)
    return std::conj(a);
  else
    return a;
}
// Element (i, j) of op(A).
template <class T>
T at(const std::vector<T>& a, int lda, cublasOperation_t op, int i, int j) {
  if (op == CUBLAS_OP_N) return a[j * lda + i];
  const T value = a[i * lda + j];
  return op == CUBLAS_OP_C ? conjugate(value) : value;
}

// Calls cublasS..., D, C or Z by the element type: BY_TYPE(T, gemm)(handle, ...).
#define BY_TYPE(T, name)                                                    \
  [](auto... each) {                                                        \
    if constexpr (std::is_same_v<T, float>) return cublasS##name(each...);  \
    if constexpr (std::is_same_v<T, double>) return cublasD##name(each...); \
    if constexpr (std::is_same_v<T, C>) return cublasC##name(each...);      \
    if constexpr (std::is_same_v<T, Z>) return cublasZ##name(each...);      \
  }
