// Measures tensor cores on one host thread: products as in mma and wgmma, on normally distributed
// values. The counter `multiply_adds` is per second of processor time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "gpu/tensor/model.hpp"

namespace {

using namespace inflight::tensor;

struct Case {
  const char* name;
  Product product;
};
constexpr Product of(Element input, Element accumulator, int m, int n, int k) {
  return {.a = input,
          .b = input,
          .c = accumulator,
          .d = accumulator,
          .m = m,
          .n = n,
          .k = k,
          .unit = m == 64 ? Unit::warpgroup : Unit::warp};
}
constexpr Case cases[] = {
    {"mma.m16n8k16.f32.f16", of(Element::f16, Element::f32, 16, 8, 16)},
    {"mma.m16n8k16.f16.f16", of(Element::f16, Element::f16, 16, 8, 16)},
    {"mma.m16n8k16.f32.bf16", of(Element::bf16, Element::f32, 16, 8, 16)},
    {"mma.m16n8k8.f32.tf32", of(Element::tf32, Element::f32, 16, 8, 8)},
    {"mma.m16n8k32.f32.e4m3", of(Element::e4m3, Element::f32, 16, 8, 32)},
    {"mma.m16n8k32.s32.s8", of(Element::s8, Element::s32, 16, 8, 32)},
    {"mma.m16n8k256.s32.b1", of(Element::b1, Element::s32, 16, 8, 256)},
    {"mma.m16n8k16.f64", of(Element::f64, Element::f64, 16, 8, 16)},
    {"wgmma.m64n128k16.f32.f16", of(Element::f16, Element::f32, 64, 128, 16)},
    {"wgmma.m64n256k16.f32.bf16", of(Element::bf16, Element::f32, 64, 256, 16)},
    {"wgmma.m64n128k32.f32.e4m3", of(Element::e4m3, Element::f32, 64, 128, 32)},
    {"wgmma.m64n256k32.s32.s8", of(Element::s8, Element::s32, 64, 256, 32)}};

std::uint64_t element(Element e, double value, std::uint64_t any) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (e == Element::f64) return std::bit_cast<std::uint64_t>(value);
  if (e == Element::f32 || e == Element::tf32) return bits;
  if (e == Element::bf16) return bits >> 16;
  if (e == Element::f16)
    return (bits >> 16 & 0x8000) | (((bits >> 13 & 0x3ffff) - (112 << 10)) & 0x7fff);
  if (e == Element::e4m3) return (any & 0x9f) | 0x20;  // about 1
  return any;
}

std::vector<std::byte> matrix(Element e, int count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<std::byte> bytes(packed_bytes(e, static_cast<std::size_t>(count)));
  const std::size_t size = std::max<std::size_t>(1, format(e).bits / 8);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const std::uint64_t bits = element(e, normal(random), random());
    std::memcpy(bytes.data() + at, &bits, size);
  }
  return bytes;
}

using Multiply = void (*)(const Numerics&, const Product&, const Matrices&);

// A tile as in real kernels: two A, each multiplied by four B in turn.
void measure(benchmark::State& state, const Product& p, Multiply multiply) {
  constexpr unsigned rows = 2, columns = 4;
  std::vector<std::byte> a[rows], b[columns];
  for (unsigned i = 0; i < rows; ++i) a[i] = matrix(p.a, p.m * p.k, i + 1);
  for (unsigned j = 0; j < columns; ++j) b[j] = matrix(p.b, p.n * p.k, rows + j + 1);
  const auto c = matrix(p.c, p.m * p.n, rows + columns + 1);
  std::vector<std::byte> d(c.size());
  for (auto _ : state)
    for (const auto& each : a)
      for (const auto& other : b) {
        multiply(numerics_of(90), p, {each.data(), other.data(), c.data(), d.data()});
        benchmark::ClobberMemory();
      }
  state.counters["multiply_adds"] =
      benchmark::Counter(static_cast<double>(p.m * p.n * p.k) * rows * columns,
                         benchmark::Counter::kIsIterationInvariantRate);
}

// A plain loop of floats, row by row, as C++ compiles it. It is neither exact nor equal.
void measure_plain(benchmark::State& state) {
  constexpr int m = 64, n = 256, k = 16;
  std::vector<float> a(m * k, 1.5F), b(k * n, 0.5F), c(m * n);
  for (auto _ : state) {
    for (int row = 0; row < m; ++row)
      for (int i = 0; i < k; ++i)
        for (int column = 0; column < n; ++column)
          c[row * n + column] += a[row * k + i] * b[i * n + column];
    benchmark::ClobberMemory();
  }
  state.counters["multiply_adds"] =
      benchmark::Counter(m * n * k, benchmark::Counter::kIsIterationInvariantRate);
}

const bool registered = [] {
  for (const Case& each : cases) {
    const Product p = each.product;
    benchmark::RegisterBenchmark(each.name, [p](benchmark::State& s) { measure(s, p, multiply); });
  }
  benchmark::RegisterBenchmark("model/mma.m16n8k16.f32.f16", [](benchmark::State& s) {
    measure(s, cases[0].product, multiply_by_the_model);
  });
  benchmark::RegisterBenchmark("plain/64x256x16.float", measure_plain);
  return true;
}();

}  // namespace

BENCHMARK_MAIN();
