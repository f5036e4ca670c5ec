// What all cases of curand_truth need: generators, orderings, distributions, and how a result is printed.
#pragma once
#include <cuda_runtime.h>
#include <curand.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>

namespace {

constexpr size_t most = size_t{1} << 25;  // bytes of the buffers
constexpr int filling = 0xA5;

std::string only;
char* on_device;
char* on_host;

bool wanted(const std::string& name) {
  const size_t n = std::min(name.size(), only.size());
  return name.compare(0, n, only, 0, n) == 0;
}
// True for a case that is to be printed.
bool listed(const std::string& name) { return name.compare(0, only.size(), only) == 0; }

uint64_t sum_of(const void* data, size_t bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (size_t i = 0; i < bytes; ++i)
    sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
  return sum;
}

struct Kind {
  const char* name;
  curandRngType_t type;
  bool quasi, wide;
};
const Kind kinds[] = {{"xorwow", CURAND_RNG_PSEUDO_XORWOW, false, false},
                      {"philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, false, false},
                      {"mrg32k3a", CURAND_RNG_PSEUDO_MRG32K3A, false, false},
                      {"mtgp32", CURAND_RNG_PSEUDO_MTGP32, false, false},
                      {"mt19937", CURAND_RNG_PSEUDO_MT19937, false, false},
                      {"sobol32", CURAND_RNG_QUASI_SOBOL32, true, false},
                      {"scrambled_sobol32", CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, true, false},
                      {"sobol64", CURAND_RNG_QUASI_SOBOL64, true, true},
                      {"scrambled_sobol64", CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, true, true}};

struct Order {
  const char* name;
  int value;
};
const Order orders[] = {
    {"best", CURAND_ORDERING_PSEUDO_BEST},       {"default", CURAND_ORDERING_PSEUDO_DEFAULT},
    {"seeded", CURAND_ORDERING_PSEUDO_SEEDED},   {"legacy", CURAND_ORDERING_PSEUDO_LEGACY},
    {"dynamic", CURAND_ORDERING_PSEUDO_DYNAMIC}, {"quasi", CURAND_ORDERING_QUASI_DEFAULT}};

struct Distribution {
  const char* name;
  size_t bytes;
  std::function<int(curandGenerator_t, void*, size_t)> make;
};
template <class T>
T* as(void* p) {
  return static_cast<T*>(p);
}
using Word = unsigned;
using Long = unsigned long long;
const Distribution bits{
    "bits", 4, [](auto g, void* p, size_t n) { return int(curandGenerate(g, as<Word>(p), n)); }};
const Distribution longs{"longs", 8, [](auto g, void* p, size_t n) {
                           return int(curandGenerateLongLong(g, as<Long>(p), n));
                         }};
const Distribution uniform{"uniform", 4, [](auto g, void* p, size_t n) {
                             return int(curandGenerateUniform(g, as<float>(p), n));
                           }};
const Distribution uniform_double{"uniform_double", 8, [](auto g, void* p, size_t n) {
                                    return int(curandGenerateUniformDouble(g, as<double>(p), n));
                                  }};
const Distribution normal{"normal", 4, [](auto g, void* p, size_t n) {
                            return int(curandGenerateNormal(g, as<float>(p), n, 0, 1));
                          }};
const Distribution normal_moved{"normal_moved", 4, [](auto g, void* p, size_t n) {
                                  return int(curandGenerateNormal(g, as<float>(p), n, 3.25f, 1.7f));
                                }};
const Distribution normal_double{
    "normal_double", 8, [](auto g, void* p, size_t n) {
      return int(curandGenerateNormalDouble(g, as<double>(p), n, 0, 1));
    }};
const Distribution normal_double_moved{
    "normal_double_moved", 8, [](auto g, void* p, size_t n) {
      return int(curandGenerateNormalDouble(g, as<double>(p), n, 3.1, 1.7));
    }};
const Distribution log_normal{"log_normal", 4, [](auto g, void* p, size_t n) {
                                return int(curandGenerateLogNormal(g, as<float>(p), n, 0.3f, 0.7f));
                              }};
const Distribution log_normal_double{
    "log_normal_double", 8, [](auto g, void* p, size_t n) {
      return int(curandGenerateLogNormalDouble(g, as<double>(p), n, 0.3, 0.7));
    }};
Distribution poisson(const char* name, double lambda) {
  return {name, 4, [=](auto g, void* p, size_t n) {
            return int(curandGeneratePoisson(g, as<Word>(p), n, lambda));
          }};
}
Distribution poisson_by(const char* name, double lambda, int method) {
  return {
      name, 4, [=](auto g, void* p, size_t n) {
        return int(curandGeneratePoissonMethod(g, as<Word>(p), n, lambda, curandMethod_t(method)));
      }};
}
const Distribution poisson_10 = poisson("poisson_10", 10);
const Distribution poisson_100 = poisson("poisson_100", 100);
const Distribution all[] = {bits,          longs,
                            uniform,       uniform_double,
                            normal,        normal_moved,
                            normal_double, normal_double_moved,
                            log_normal,    log_normal_double,
                            poisson_10,    poisson_100};

// A generator on the device or on the host, and where it writes.
struct Generator {
  curandGenerator_t it = nullptr;
  bool host;
  int created;
  Generator(bool host, curandRngType_t type) : host(host) {
    created = host ? curandCreateGeneratorHost(&it, type) : curandCreateGenerator(&it, type);
  }
  Generator(const Generator&) = delete;
  ~Generator() {
    if (it) curandDestroyGenerator(it);
  }
  operator curandGenerator_t() const { return it; }
};

void print_value(const char* at, size_t bytes) {
  if (bytes == 4) {
    uint32_t v;
    std::memcpy(&v, at, 4);
    std::printf(" %08x", v);
  } else {
    uint64_t v;
    std::memcpy(&v, at, 8);
    std::printf(" %016llx", static_cast<unsigned long long>(v));
  }
}

// Prints a line for n values of a distribution, written `skew` bytes after the buffer's begin.
void values(const std::string& name, const Generator& g, const Distribution& d, size_t n,
            size_t shown = 8, size_t skew = 0, std::initializer_list<size_t> more = {}) {
  const size_t bytes = n * d.bytes, behind = std::min<size_t>(256, most - skew - bytes);
  char* to = g.host ? on_host : on_device;
  std::memset(on_host, filling, skew + bytes + behind);
  if (!g.host) cudaMemset(on_device, filling, skew + bytes + behind);
  cudaDeviceSynchronize();
  const int status = d.make(g, to + skew, n);
  const int waited = cudaDeviceSynchronize();
  if (!g.host) cudaMemcpy(on_host, on_device, skew + bytes + behind, cudaMemcpyDeviceToHost);
  if (!listed(name)) return;
  bool clean = true;
  for (size_t i = 0; i < skew; ++i) clean &= on_host[i] == char(filling);
  for (size_t i = 0; i < behind; ++i) clean &= on_host[skew + bytes + i] == char(filling);
  std::printf("%s %d", name.c_str(), status);
  if (waited) std::printf(" waited:%d", waited);
  if (!clean) std::printf(" outside");
  std::printf(" n=%zu %016llx", n, static_cast<unsigned long long>(sum_of(on_host + skew, bytes)));
  for (size_t i = 0; i < std::min(n, shown); ++i)
    print_value(on_host + skew + i * d.bytes, d.bytes);
  for (size_t i : more) {
    if (i >= n) continue;
    std::printf(" [%zu]", i);
    print_value(on_host + skew + i * d.bytes, d.bytes);
  }
  std::printf("\n");
  std::fflush(stdout);
}
void say(const std::string& name, long long value) {
  if (!listed(name)) return;
  std::printf("%s %lld\n", name.c_str(), value);
  std::fflush(stdout);
}

const char* place(bool host) { return host ? "host" : "device"; }
std::string number(unsigned long long v) { return std::to_string(v); }

constexpr unsigned long long seeds[] = {0, 1, 1234, 0xdeadbeefcafebabe, 0x100000000, ~0ull};
constexpr unsigned long long offsets[] = {0,
                                          1,
                                          2,
                                          3,
                                          4,
                                          5,
                                          31,
                                          4095,
                                          4096,
                                          4097,
                                          65537,
                                          1000003,
                                          1ull << 32,
                                          (1ull << 40) + 7,
                                          (1ull << 63) + 1};

}  // namespace
