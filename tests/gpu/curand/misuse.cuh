// `misuse`: what wrong calls return.
#pragma once
#include <limits>
#include <string>

#include "tests/gpu/curand/values.cuh"

namespace {

void misuse(const Kind& k, bool host) {
  const std::string name = std::string("misuse.") + k.name + "." + place(host) + ".";
  if (!wanted(name)) return;
  Generator g(host, k.type);
  char* p = host ? on_host : on_device;
  const auto status = [&](const char* what, int value) { say(name + what, value); };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  status("none", curandGenerate(g, as<Word>(p), 0));
  status("none_at_null", curandGenerate(g, nullptr, 0));
  status("uniform_none", curandGenerateUniform(g, as<float>(p), 0));
  status("normal_none", curandGenerateNormal(g, as<float>(p), 0, 0, 1));
  status("poisson_none", curandGeneratePoisson(g, as<Word>(p), 0, 1));
  status("normal_odd", curandGenerateNormal(g, as<float>(p), 1001, 0, 1));
  status("normal_one", curandGenerateNormal(g, as<float>(p), 1, 0, 1));
  status("normal_double_odd", curandGenerateNormalDouble(g, as<double>(p), 1001, 0, 1));
  status("log_normal_odd", curandGenerateLogNormal(g, as<float>(p), 1001, 0, 1));
  status("log_normal_double_odd", curandGenerateLogNormalDouble(g, as<double>(p), 1001, 0, 1));
  status("normal_nan", curandGenerateNormal(g, as<float>(p), 10, nan, 1));
  status("normal_negative", curandGenerateNormal(g, as<float>(p), 10, 0, -1));
  values(name + "normal_negative_values", g,
         {"", 4,
          [](auto g, void* p, size_t n) {
            return int(curandGenerateNormal(g, as<float>(p), n, 0, -1));
          }},
         64);
  values(name + "normal_no_deviation", g,
         {"", 4,
          [](auto g, void* p, size_t n) {
            return int(curandGenerateNormal(g, as<float>(p), n, 5, 0));
          }},
         64);
  status("longs", curandGenerateLongLong(g, as<Long>(p), 10));
  status("bits", curandGenerate(g, as<Word>(p), 10));
  status("ordering_0", curandSetGeneratorOrdering(g, curandOrdering_t(0)));
  status("ordering_99", curandSetGeneratorOrdering(g, curandOrdering_t(99)));
  status("ordering_105", curandSetGeneratorOrdering(g, curandOrdering_t(105)));
  status("ordering_200", curandSetGeneratorOrdering(g, curandOrdering_t(200)));
  status("ordering_202", curandSetGeneratorOrdering(g, curandOrdering_t(202)));
  for (const Order& o : orders) {
    Generator h(host, k.type);
    status((std::string("ordering_") + o.name).c_str(),
           curandSetGeneratorOrdering(h, curandOrdering_t(o.value)));
    status((std::string("ordering_") + o.name + "_seeds").c_str(), curandGenerateSeeds(h));
    status((std::string("ordering_") + o.name + "_bits").c_str(),
           curandGenerate(h, as<Word>(p), 10));
  }
  status("dimensions_0", curandSetQuasiRandomGeneratorDimensions(g, 0));
  status("dimensions_1", curandSetQuasiRandomGeneratorDimensions(g, 1));
  status("dimensions_20000", curandSetQuasiRandomGeneratorDimensions(g, 20000));
  status("dimensions_20001", curandSetQuasiRandomGeneratorDimensions(g, 20001));
  status("dimensions_most", curandSetQuasiRandomGeneratorDimensions(g, ~0u));
  status("dimensions_7", curandSetQuasiRandomGeneratorDimensions(g, 7));
  status("count_10_of_7", curandGenerate(g, as<Word>(p), 10));
  status("longs_10_of_7", curandGenerateLongLong(g, as<Long>(p), 10));
  status("uniform_10_of_7", curandGenerateUniform(g, as<float>(p), 10));
  status("uniform_double_10_of_7", curandGenerateUniformDouble(g, as<double>(p), 10));
  status("normal_10_of_7", curandGenerateNormal(g, as<float>(p), 10, 0, 1));
  status("normal_7_of_7", curandGenerateNormal(g, as<float>(p), 7, 0, 1));
  status("normal_double_7_of_7", curandGenerateNormalDouble(g, as<double>(p), 7, 0, 1));
  status("poisson_10_of_7", curandGeneratePoisson(g, as<Word>(p), 10, 10));
  status("seed", curandSetPseudoRandomGeneratorSeed(g, 5));
  status("offset", curandSetGeneratorOffset(g, 5));
  status("offset_most", curandSetGeneratorOffset(g, ~0ull));
  status("seeds", curandGenerateSeeds(g));
}
void misuse_of_calls() {
  if (!wanted("misuse.calls.")) return;
  const auto status = [&](const char* what, long long value) {
    say(std::string("misuse.calls.") + what, value);
  };
  curandGenerator_t g = nullptr;
  int value = -1;
  for (int type : {0,   1,   99,  100, 101, 102, 120, 121, 122, 140, 141, 142,
                   143, 160, 161, 162, 199, 200, 201, 202, 203, 204, 205, -1}) {
    g = nullptr;
    status(("type_" + std::to_string(type)).c_str(),
           curandCreateGenerator(&g, curandRngType_t(type)));
    if (g) status(("type_" + std::to_string(type) + "_destroy").c_str(), curandDestroyGenerator(g));
    g = nullptr;
    status(("host_type_" + std::to_string(type)).c_str(),
           curandCreateGeneratorHost(&g, curandRngType_t(type)));
    if (g) curandDestroyGenerator(g);
  }
  for (const Kind& k : {Kind{"pseudo_default", CURAND_RNG_PSEUDO_DEFAULT, false, false},
                        Kind{"quasi_default", CURAND_RNG_QUASI_DEFAULT, true, false}}) {
    Generator d(false, k.type);
    values(std::string("misuse.calls.") + k.name, d, bits, 5000);
  }
  status("destroy_null", curandDestroyGenerator(nullptr));
  status("stream_of_null", curandSetStream(nullptr, nullptr));
  status("seed_of_null", curandSetPseudoRandomGeneratorSeed(nullptr, 1));
  status("offset_of_null", curandSetGeneratorOffset(nullptr, 1));
  status("ordering_of_null", curandSetGeneratorOrdering(nullptr, CURAND_ORDERING_PSEUDO_BEST));
  status("dimensions_of_null", curandSetQuasiRandomGeneratorDimensions(nullptr, 1));
  status("seeds_of_null", curandGenerateSeeds(nullptr));
  status("bits_of_null", curandGenerate(nullptr, as<Word>(on_device), 10));
  status("longs_of_null", curandGenerateLongLong(nullptr, as<Long>(on_device), 10));
  status("uniform_of_null", curandGenerateUniform(nullptr, as<float>(on_device), 10));
  status("uniform_double_of_null", curandGenerateUniformDouble(nullptr, as<double>(on_device), 10));
  status("normal_of_null", curandGenerateNormal(nullptr, as<float>(on_device), 10, 0, 1));
  status("log_normal_of_null", curandGenerateLogNormal(nullptr, as<float>(on_device), 10, 0, 1));
  status("poisson_of_null", curandGeneratePoisson(nullptr, as<Word>(on_device), 10, 1));
  for (int part : {0, 1, 2, 3, 4, -1}) {
    value = -1;
    const int s = curandGetProperty(libraryPropertyType(part), &value);
    if (s) status(("property_" + std::to_string(part)).c_str(), s);
  }
  // A failure that came before.
  Generator x(false, CURAND_RNG_PSEUDO_XORWOW);
  cudaSetDevice(99);
  status("after_failure", curandGenerate(x, as<Word>(on_device), 10));
  status("after_failure_error", cudaPeekAtLastError());
  cudaSetDevice(99);
  status("after_failure_create", curandCreateGenerator(&g, CURAND_RNG_PSEUDO_XORWOW));
  status("after_failure_create_error", cudaGetLastError());
  cudaSetDevice(99);
  status("after_failure_seeds", curandGenerateSeeds(x));
  status("after_failure_seeds_error", cudaGetLastError());
  cudaSetDevice(99);
  status("after_failure_seed", curandSetPseudoRandomGeneratorSeed(x, 1));
  status("after_failure_destroy", curandDestroyGenerator(x));
  x.it = nullptr;
  status("after_failure_destroy_error", cudaGetLastError());
}

}  // namespace
