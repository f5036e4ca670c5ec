// The common part of this benchmark's programs: sizes, inputs, checks, and the format of results.
// Plain C++17, so that nvcc, g++ and clang compile the same text.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace workload {

// Elements of a vector, or the side of a matrix.
struct Sizes {
  int saxpy, sgemm[2], reduce, bitonic;
};
inline constexpr Sizes full{1 << 22, {256, 512}, 1 << 22, 1 << 16};
inline constexpr Sizes small{1 << 16, {64, 128}, 1 << 16, 1 << 10};  // for slow engines

struct Arguments {
  int repetitions = 5;
  Sizes sizes = full;
  int threads = 0;               // 0: all threads
  const char* kernel = nullptr;  // null: all kernels
  double seconds = 0;            // not 0: repeats until so many seconds have passed

  bool wants(const char* name) const { return !kernel || !std::strcmp(kernel, name); }
};

// [REPETITIONS] [--small] [--threads N] [--kernel NAME] [--seconds S] [--keys N]
inline Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--small"))
      a.sizes = small;
    else if (!std::strcmp(argv[i], "--threads") && i + 1 < argc)
      a.threads = std::atoi(argv[++i]);
    else if (!std::strcmp(argv[i], "--kernel") && i + 1 < argc)
      a.kernel = argv[++i];
    else if (!std::strcmp(argv[i], "--keys") && i + 1 < argc)
      a.sizes.bitonic = std::atoi(argv[++i]);
    else if (!std::strcmp(argv[i], "--seconds") && i + 1 < argc)
      a.seconds = std::atof(argv[++i]);
    else
      a.repetitions = std::max(1, std::atoi(argv[i]));
  }
  return a;
}

inline std::vector<float> ramp(std::size_t n) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = float(i % 97) / 97;
  return v;
}

inline std::vector<unsigned> keys(std::size_t n) {
  std::vector<unsigned> v(n);
  unsigned state = 1;
  for (auto& k : v) k = state = state * 1664525u + 1013904223u;
  return v;
}

inline bool right_saxpy(const std::vector<float>& x, float a, const std::vector<float>& y,
                        const std::vector<float>& result) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(std::fabs(result[i] - (a * x[i] + y[i])) <= 1e-5f)) return false;
  return true;
}

// Compares a sample of the product's elements with sums in double.
inline bool right_sgemm(int n, const std::vector<float>& a, const std::vector<float>& b,
                        const std::vector<float>& c) {
  const auto at = [n](int row, int column) { return std::size_t(row) * n + column; };
  for (int i = 0; i < n; i += 37)
    for (int j = 0; j < n; j += 41) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += double(a[at(i, k)]) * b[at(k, j)];
      if (!(std::fabs(sum - c[at(i, j)]) <= 1e-3 * sum)) return false;
    }
  return true;
}

inline bool right_reduce(const std::vector<float>& in, const std::vector<float>& partial) {
  double sum = 0, expected = 0;
  for (float v : partial) sum += v;
  for (float v : in) expected += v;
  return std::fabs(sum - expected) <= 1e-4 * expected;
}

inline bool right_bitonic(const std::vector<unsigned>& result) {
  std::vector<unsigned> expected = keys(result.size());
  std::sort(expected.begin(), expected.end());
  return result == expected;
}

// Runs `before` and `run` for the requested repetitions and prints one line: kernel, size, seconds
// of the best repetition, processor seconds of the best repetition (all threads), right or wrong,
// seconds of the median repetition.
template <class Before, class Run, class Right>
void report(const char* kernel, int size, const Arguments& asked, Before before, Run run,
            Right right) {
  if (!asked.wants(kernel)) return;
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  std::vector<double> times;
  double best_processor = 1e30;
  const auto first = Clock::now();
  const std::size_t least = asked.seconds > 0 ? 1 : asked.repetitions;
  while (times.size() < least || since(first) < asked.seconds) {
    before();
    const std::clock_t processor = std::clock();
    const auto begin = Clock::now();
    run();
    times.push_back(since(begin));
    best_processor = std::min(best_processor, double(std::clock() - processor) / CLOCKS_PER_SEC);
  }
  std::sort(times.begin(), times.end());
  std::printf("%s %d %.9f %.9f %s %.9f\n", kernel, size, times.front(), best_processor,
              right() ? "right" : "wrong", times[times.size() / 2]);
  std::fflush(stdout);
}

}  // namespace workload
