// The work of the four kernels in plain C++, one block of the kernel at a time, on one or more
// threads.
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <memory>

#include "workload.hpp"

namespace {

constexpr int tile = 16, block = 256;

// Calls body(i) for every i below count. With threads == 1 it uses only the calling thread.
template <class Body>
void each(int count, int threads, Body body) {
  if (threads == 1) {
    for (int i = 0; i < count; ++i) body(i);
  } else {
    tbb::parallel_for(0, count, body);
  }
}

void saxpy(int first, float a, const float* __restrict x, float* __restrict y) {
  for (int i = first; i < first + block; ++i) y[i] = a * x[i] + y[i];
}

void sgemm(int n, int row0, int column0, const float* __restrict a, const float* __restrict b,
           float* __restrict c) {
  float sum[tile][tile] = {};
  for (int t = 0; t < n; t += tile)
    for (int y = 0; y < tile; ++y)
      for (int k = 0; k < tile; ++k)
        for (int x = 0; x < tile; ++x)
          sum[y][x] += a[(row0 + y) * n + t + k] * b[(t + k) * n + column0 + x];
  for (int y = 0; y < tile; ++y)
    for (int x = 0; x < tile; ++x) c[(row0 + y) * n + column0 + x] = sum[y][x];
}

float reduce(const float* in) {
  float s[block];
  for (int i = 0; i < block; ++i) s[i] = in[i];
  for (int w = block / 2; w > 0; w >>= 1)
    for (int i = 0; i < w; ++i) s[i] += s[i + w];
  return s[0];
}

// One compare-exchange pass over the elements [first, first + block).
void bitonic(unsigned* keys, int first, int j, int k) {
  for (int i = first; i < first + block; ++i) {
    const int other = i ^ j;
    if (other <= i) continue;
    const unsigned a = keys[i], b = keys[other];
    const bool swap = (a > b) == ((i & k) == 0);
    keys[i] = swap ? b : a;
    keys[other] = swap ? a : b;
  }
}

void time_all(const workload::Arguments& arguments) {
  const workload::Sizes& sizes = arguments.sizes;
  const int threads = arguments.threads;
  {
    const int n = sizes.saxpy;
    const auto x = workload::ramp(n), y = workload::ramp(n);
    auto out = y;
    workload::report(
        "saxpy", n, arguments, [&] { out = y; },
        [&] {
          each(n / block, threads, [&](int i) { saxpy(i * block, 2.0f, x.data(), out.data()); });
        },
        [&] { return workload::right_saxpy(x, 2.0f, y, out); });
  }
  for (int n : sizes.sgemm) {
    const auto a = workload::ramp(n * n), b = workload::ramp(n * n);
    std::vector<float> c(n * n);
    workload::report(
        "sgemm", n, arguments, [] {},
        [&] {
          const int side = n / tile;
          each(side * side, threads, [&](int i) {
            sgemm(n, i / side * tile, i % side * tile, a.data(), b.data(), c.data());
          });
        },
        [&] { return workload::right_sgemm(n, a, b, c); });
  }
  {
    const int n = sizes.reduce;
    const auto in = workload::ramp(n);
    std::vector<float> out(n / block);
    workload::report(
        "reduce", n, arguments, [] {},
        [&] { each(n / block, threads, [&](int i) { out[i] = reduce(&in[i * block]); }); },
        [&] { return workload::right_reduce(in, out); });
  }
  {
    const int n = sizes.bitonic;
    const auto keys = workload::keys(n);
    auto sorted = keys;
    workload::report(
        "bitonic", n, arguments, [&] { sorted = keys; },
        [&] {
          for (int k = 2; k <= n; k <<= 1)
            for (int j = k >> 1; j > 0; j >>= 1)
              each(n / block, threads, [&](int i) { bitonic(sorted.data(), i * block, j, k); });
        },
        [&] { return workload::right_bitonic(sorted); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = workload::parse(argc, argv);
  std::unique_ptr<tbb::global_control> limit;
  if (arguments.threads > 0)
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  arguments.threads);
  time_all(arguments);
  return 0;
}
