// Cases of dimensions and distributions: `quasi`, `poisson`, `skew` and `range`.
#pragma once
#include <algorithm>
#include <limits>

#include "tests/gpu/curand/values.cuh"

namespace {

// `quasi`: dimensions, counts, offsets.
void quasi(const Kind& k, bool host) {
  const Distribution& b = k.wide ? longs : bits;
  for (unsigned dimensions : {1u, 2u, 3u, 7u, 100u, 1000u, 19999u, 20000u}) {
    if (host && dimensions > 1000) continue;
    for (unsigned long long offset :
         {0ull, 1ull, 2ull, 5ull, 64ull, 4096ull, 1000003ull, 1ull << 31, (1ull << 32) + 9}) {
      const std::string name = std::string("quasi.") + k.name + "." + place(host) + "." +
                               number(dimensions) + ".offset" + number(offset);
      if (!wanted(name)) continue;
      Generator g(host, k.type);
      say(name + ".dimensions", curandSetQuasiRandomGeneratorDimensions(g, dimensions));
      say(name + ".moved", curandSetGeneratorOffset(g, offset));
      const size_t each = dimensions > 1000 ? 5 : dimensions == 1000 ? 37 : 1001;
      values(name + ".0", g, b, each * dimensions, 8, 0,
             {each - 1, each, 2 * each, 3 * each, each * dimensions - 1});
      values(name + ".1", g, b, 3 * size_t{dimensions}, 8);
      values(name + ".2.uniform", g, uniform, 2 * size_t{dimensions}, 8);
      values(name + ".3.uniform_double", g, uniform_double, 2 * size_t{dimensions}, 8);
      values(name + ".4.normal", g, normal, 5 * size_t{dimensions}, 8);
      values(name + ".5.normal_double", g, normal_double, 5 * size_t{dimensions}, 8);
      values(name + ".6.poisson", g, poisson_10, 5 * size_t{dimensions}, 8);
      values(name + ".7.one_too_many", g, b, 2 * size_t{dimensions} + 1, 8);
      values(name + ".8", g, b, 2 * size_t{dimensions}, 8);
    }
  }
}

// `poisson`: means from small to large, and methods.
void poissons(const Kind& k, bool host) {
  const double means[] = {1e-300,
                          1e-5,
                          0.1,
                          0.5,
                          1,
                          2.5,
                          7.25,
                          10,
                          31.5,
                          63.9,
                          64,
                          65,
                          100,
                          999.5,
                          1000,
                          2000,
                          3999,
                          4000,
                          4001,
                          10000,
                          65536.5,
                          100000,
                          399999,
                          400000,
                          400001,
                          1e6,
                          1e9,
                          0,
                          -1,
                          std::numeric_limits<double>::quiet_NaN(),
                          std::numeric_limits<double>::infinity()};
  int at = 0;
  for (double lambda : means) {
    const std::string name =
        std::string("poisson.") + k.name + "." + place(host) + "." + number(at++);
    if (!wanted(name)) continue;
    Generator g(host, k.type);
    values(name, g, poisson("", lambda), 8195, 32, 0, {4095, 4096, 8194});
    values(name + ".again", g, poisson("", lambda), 8195, 4);
  }
  for (double lambda : {0.5, 10.0, 500.0, 5000.0}) {
    for (int method = 0; method < 15; ++method) {
      if (host && method == CURAND_3RD) continue;  // ends with SIGSEGV
      const std::string name = std::string("method.") + k.name + "." + place(host) + "." +
                               number(method) + ".mean" + number(lambda);
      if (!wanted(name)) continue;
      Generator g(host, k.type);
      values(name, g, poisson_by("", lambda, method), 5003, 16, 0, {4095, 4096});
      values(name + ".bits", g, bits, 7);
    }
  }
}

// `skew`: results written where 8 or 16 bytes do not begin.
void skewed(const Kind& k) {
  for (const Distribution& d : all) {
    for (size_t skew : {4, 8, 12}) {
      if (skew % d.bytes) continue;
      const std::string name = std::string("skew.") + k.name + "." + d.name + "." + number(skew);
      if (!wanted(name)) continue;
      Generator g(false, k.type);
      values(name, g, d, 4102, 4, skew, {4096});
    }
  }
}

// `range`: least and greatest results, and how often an end of the range is met.
void range(const Kind& k) {
  const std::string name = std::string("range.") + k.name;
  if (!wanted(name) || k.wide) return;
  Generator g(false, k.type);
  const size_t n = size_t{1} << 22;
  float low = 2, high = -1;
  size_t ones = 0, zeros = 0;
  for (int round = 0; round < 4; ++round) {
    curandGenerateUniform(g, as<float>(on_device), n);
    cudaMemcpy(on_host, on_device, n * 4, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < n; ++i) {
      const float v = as<float>(on_host)[i];
      low = std::min(low, v), high = std::max(high, v);
      ones += v == 1, zeros += v == 0;
    }
  }
  if (listed(name))
    std::printf("%s %a %a zeros %zu ones %zu\n", name.c_str(), low, high, zeros, ones);
}

}  // namespace
