// Shared by the cuFFT tests: inputs, memory, and transforms by the definition.
#pragma once
#include <cufftXt.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <string>
#include <vector>

using Z = std::complex<double>;

inline int failures = 0;
inline void expect(bool good, const std::string& what) {
  if (good) return;
  ++failures;
  std::printf("wrong: %s\n", what.c_str());
}
inline int finish() {
  std::printf(failures ? "%d wrong\n" : "all as the definition has it\n", failures);
  return failures != 0;
}
#define GOOD(call) expect((call) == CUFFT_SUCCESS, #call)
#define IS(status, call) expect((call) == (status), #call)

// Element i of a sequence of small numbers that f16 and bf16 have too.
inline double sample(long long i) { return double(i * 37 % 19 - 9) / 8; }

// Device memory of some elements.
template <class T>
struct On {
  T* data = nullptr;
  std::size_t n;
  explicit On(std::size_t count) : n(count) { cudaMalloc(&data, n * sizeof(T)); }
  explicit On(const std::vector<T>& from) : On(from.size()) {
    cudaMemcpy(data, from.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~On() { cudaFree(data); }
  On(const On&) = delete;
  std::vector<T> host() const {
    std::vector<T> result(n);
    cudaMemcpy(result.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost);
    return result;
  }
};

// The transform of n[0] x n[1] x n[2] numbers by its definition, not normalised.
inline std::vector<Z> transform(const std::vector<Z>& in, const int (&n)[3], int direction) {
  std::vector<Z> now = in;
  int step = n[0] * n[1] * n[2];
  for (const int size : n) {  // one dimension after another
    step /= size;
    std::vector<Z> next(now.size());
    for (int at = 0; at < int(now.size()); ++at) {
      const int k = at / step % size;
      Z sum = 0;
      for (int j = 0; j < size; ++j)
        sum += now[at + (j - k) * step] *
               std::polar(1.0, direction * 2 * M_PI * (double(j) * k / size));
      next[at] = sum;
    }
    now = next;
  }
  return now;
}
