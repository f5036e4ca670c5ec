// flags: -lcurand
// args: --only first.philox.device
// Prints what cuRAND's host API gives: for each generator, ordering, seed, offset and distribution
// the status, a sum of all bytes, and values where sequences of several threads meet; then what
// follows a call, what misuse returns, and the tables that it hands out. One line per case, whose
// name comes first. `--only PREFIX` does the cases whose names begin with it. All cases take
// minutes on a GPU. curand_truth.h200.txt has those of the tests, as cuRAND 10.4.0 gave them.
//
// nvcc -std=c++17 -arch=sm_90 curand_truth.cu -lcurand -o curand_truth
#include <cuda_runtime.h>
#include <curand.h>
#include <curand_discrete.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

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

// `first`: 64 values and 100000 in all of each distribution, of a generator as it is created.
void first(const Kind& k, bool host) {
  for (const Distribution& d : all) {
    const std::string name = std::string("first.") + k.name + "." + place(host) + "." + d.name;
    if (!wanted(name)) continue;
    Generator g(host, k.type);
    say(name + ".created", g.created);
    values(name, g, d, host ? 20000 : 100000, 64, 0, {4095, 4096, 8191, 8192, 16384, 65536, 99999});
  }
}

// `long`: enough values that every thread of the generator's grid writes several.
void many(const Kind& k, bool host) {
  const size_t counts[] = {host ? size_t{1} << 18 : size_t{1} << 22};
  for (const Order& o : orders) {
    if (k.quasi != (o.value == CURAND_ORDERING_QUASI_DEFAULT)) continue;
    for (const Distribution& d :
         {bits, longs, uniform, uniform_double, normal, normal_double, poisson_10}) {
      if (d.bytes == 8 && o.value == CURAND_ORDERING_PSEUDO_BEST) continue;
      for (size_t n : counts) {
        const std::string name =
            std::string("long.") + k.name + "." + place(host) + "." + o.name + "." + d.name;
        if (!wanted(name)) continue;
        Generator g(host, k.type);
        say(name + ".ordered", curandSetGeneratorOrdering(g, curandOrdering_t(o.value)));
        if (!k.quasi) curandSetPseudoRandomGeneratorSeed(g, 1234);
        const size_t count = d.bytes == 8 ? n / 2 : n;
        values(name, g, d, count, 4, 0,
               {63,      64,      127,     128,     255,     256,     511,     512,
                4094,    4095,    4096,    4097,    8191,    8192,    12288,   16384,
                32767,   32768,   33792,   67584,   65535,   65536,   131072,  135168,
                196608,  262143,  262144,  327680,  524288,  655359,  655360,  655361,
                1048575, 1048576, 1310720, 2097151, 2097152, 2097153, 4194302, 4194303});
      }
    }
  }
}

// `order`: all orderings with seeds and offsets.
void ordered(const Kind& k, bool host) {
  for (const Order& o : orders) {
    for (auto seed : seeds) {
      for (auto offset : offsets) {
        if (offset && seed != 1234 && seed != ~0ull) continue;
        if (k.quasi && seed != 1234) continue;
        if (host && offset > 5 && offset != 4097) continue;
        const std::string name = std::string("order.") + k.name + "." + place(host) + "." + o.name +
                                 ".seed" + number(seed) + ".offset" + number(offset);
        if (!wanted(name)) continue;
        Generator g(host, k.type);
        say(name + ".ordered", curandSetGeneratorOrdering(g, curandOrdering_t(o.value)));
        say(name + ".seeded", curandSetPseudoRandomGeneratorSeed(g, seed));
        say(name + ".moved", curandSetGeneratorOffset(g, offset));
        values(name, g, k.wide ? longs : bits, 8195, 8, 0, {4095, 4096, 8191, 8192, 8193, 8194});
        if (offset == 3 || offset == 4097) {
          values(name + ".then.uniform_double", g, uniform_double, 4099, 8, 0, {4095, 4096});
          values(name + ".then.normal", g, normal, 4098, 8, 0, {4095, 4096});
        }
      }
    }
  }
}

// `calls`: a sequence of calls of one generator.
struct Step {
  const Distribution* d;
  size_t n;
};
void calls(const Kind& k, bool host, const Order& o, const char* what,
           const std::vector<Step>& steps, unsigned long long offset = 0) {
  const std::string name =
      std::string("calls.") + k.name + "." + place(host) + "." + o.name + "." + what;
  if (!wanted(name)) return;
  Generator g(host, k.type);
  curandSetGeneratorOrdering(g, curandOrdering_t(o.value));
  curandSetGeneratorOffset(g, offset);
  int at = 0;
  for (const Step& s : steps)
    values(name + "." + number(at++) + "." + s.d->name, g, *s.d, s.n, 4, 0, {4096, s.n - 1});
}
void calls(const Kind& k, bool host) {
  for (const Order& o : orders) {
    if (k.quasi != (o.value == CURAND_ORDERING_QUASI_DEFAULT)) continue;
    const Distribution& b = k.wide ? longs : bits;
    const auto run = [&](const char* what, const std::vector<Step>& steps,
                         unsigned long long offset = 0) { calls(k, host, o, what, steps, offset); };
    run("small", {{&b, 1},
                  {&b, 2},
                  {&b, 3},
                  {&b, 5},
                  {&b, 7},
                  {&b, 1},
                  {&b, 64},
                  {&b, 127},
                  {&b, 4096},
                  {&b, 1}});
    run("large",
        {{&b, 70000}, {&b, 30000}, {&b, 4095}, {&b, 4097}, {&b, 12289}, {&b, 333}, {&b, 100000}});
    run("uniform",
        {{&uniform, 1}, {&uniform, 5}, {&uniform, 4099}, {&uniform, 33333}, {&uniform, 64}});
    run("uniform_double", {{&uniform_double, 1},
                           {&uniform_double, 5},
                           {&uniform_double, 4099},
                           {&uniform_double, 33333},
                           {&uniform_double, 64}});
    run("normal", {{&normal, 2}, {&normal, 6}, {&normal, 4100}, {&normal, 33334}, {&normal, 64}});
    run("normal_double", {{&normal_double, 2},
                          {&normal_double, 6},
                          {&normal_double, 4100},
                          {&normal_double, 33334},
                          {&normal_double, 64}});
    run("log_normal", {{&log_normal, 2},
                       {&log_normal, 4100},
                       {&log_normal_double, 4100},
                       {&log_normal_double, 64}});
    run("mixed", {{&bits, 3},
                  {&uniform_double, 3},
                  {&bits, 3},
                  {&normal, 4},
                  {&bits, 3},
                  {&normal_double, 4},
                  {&bits, 5000},
                  {&uniform_double, 5001},
                  {&bits, 7},
                  {&poisson_10, 7},
                  {&bits, 7},
                  {&poisson_100, 5003},
                  {&bits, 7},
                  {&uniform, 3},
                  {&longs, 5},
                  {&bits, 7}});
    run("moved_and_mixed",
        {{&uniform_double, 3}, {&bits, 3}, {&normal, 4}, {&uniform_double, 4097}, {&bits, 9}}, 5);
    run("poisson", {{&poisson_10, 1},
                    {&poisson_10, 2},
                    {&poisson_100, 4099},
                    {&poisson_10, 33333},
                    {&poisson_100, 64}});
    run("whole_blocks", {{&b, 4096}, {&b, 4096}, {&b, 8192}, {&b, 65536}, {&b, 4096}});
  }
  // The seed, the offset and the ordering set between calls.
  const std::string name = std::string("calls.") + k.name + "." + place(host) + ".set";
  if (!wanted(name)) return;
  const Distribution& b = k.wide ? longs : bits;
  Generator g(host, k.type);
  values(name + ".0", g, b, 1001);
  say(name + ".offset", curandSetGeneratorOffset(g, 0));
  values(name + ".1", g, b, 1001);
  say(name + ".offset", curandSetGeneratorOffset(g, 10));
  values(name + ".2", g, b, 1001);
  say(name + ".seed", curandSetPseudoRandomGeneratorSeed(g, 77));
  values(name + ".3", g, b, 1001);
  say(name + ".same_seed", curandSetPseudoRandomGeneratorSeed(g, 77));
  values(name + ".4", g, b, 1001);
  say(name + ".ordering", curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_LEGACY));
  values(name + ".5", g, b, 1001);
  say(name + ".seeds", curandGenerateSeeds(g));
  values(name + ".6", g, b, 1001);
  say(name + ".seeds", curandGenerateSeeds(g));
  values(name + ".7", g, b, 1001);
  say(name + ".dimensions", curandSetQuasiRandomGeneratorDimensions(g, 1));
  values(name + ".8", g, b, 1001);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  say(name + ".stream", curandSetStream(g, stream));
  values(name + ".9", g, b, 1001);
  say(name + ".no_stream", curandSetStream(g, nullptr));
  values(name + ".10", g, b, 1001);
  cudaStreamDestroy(stream);
}

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

// `misuse`: what wrong calls return.
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

// `order_of_work`: which calls return before the stream's earlier work has ended.
__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
void order_of_work(const Kind& k, bool host) {
  const std::string name = std::string("work.") + k.name + "." + place(host) + ".";
  if (!wanted(name)) return;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const auto busy = [&](const char* what, int status) {
    say(name + what, status);
    say(name + what + "_returns_early", cudaStreamQuery(stream) == cudaErrorNotReady);
    cudaStreamSynchronize(stream);
  };
  Generator g(host, k.type);
  char* p = host ? on_host : on_device;
  const long long cycles = 300'000'000;
  spin<<<1, 1, 0, stream>>>(1);
  cudaStreamSynchronize(stream);
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("set_stream", curandSetStream(g, stream));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("first_bits", curandGenerate(g, as<Word>(p), 1000));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("bits", curandGenerate(g, as<Word>(p), 1000));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("normal", curandGenerateNormal(g, as<float>(p), 1000, 0, 1));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("poisson", curandGeneratePoisson(g, as<Word>(p), 1000, 100));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("same_poisson", curandGeneratePoisson(g, as<Word>(p), 1000, 100));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("seeds", curandGenerateSeeds(g));
  curandSetGeneratorOffset(g, 3);
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("bits_after_offset", curandGenerate(g, as<Word>(p), 1000));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("destroy", curandDestroyGenerator(g));
  g.it = nullptr;
  cudaStreamDestroy(stream);
}

// `graph`: a call captured, and its graph launched twice.
void graph(const Kind& k, bool host) {
  const std::string name = std::string("graph.") + k.name + "." + place(host) + ".";
  if (!wanted(name)) return;
  const Distribution& b = k.wide ? longs : bits;
  for (const bool seeded : {true, false}) {
    const std::string what = name + (seeded ? "seeded" : "fresh");
    if (!wanted(what)) continue;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    Generator g(host, k.type);
    curandSetStream(g, stream);
    if (seeded) say(what + ".seeds", curandGenerateSeeds(g));
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    say(what + ".captured", b.make(g, host ? on_host : on_device, 1000));
    cudaGraph_t captured = nullptr;
    say(what + ".ended", cudaStreamEndCapture(stream, &captured));
    size_t nodes = 0;
    if (captured) cudaGraphGetNodes(captured, nullptr, &nodes);
    say(what + ".any_nodes", nodes > 0);
    cudaGraphExec_t ready = nullptr;
    if (captured && cudaGraphInstantiate(&ready, captured, 0) == cudaSuccess) {
      for (int round = 0; round < 2; ++round) {
        values(what + ".launch" + number(round), g,
               {"", b.bytes,
                [&](auto, void*, size_t) {
                  const int s = cudaGraphLaunch(ready, stream);
                  cudaStreamSynchronize(stream);
                  return s;
                }},
               1000);
      }
      cudaGraphExecDestroy(ready);
    }
    values(what + ".after", g, b, 1000);
    cudaGetLastError();
    if (captured) cudaGraphDestroy(captured);
    cudaStreamDestroy(stream);
  }
}

// `tables`: direction vectors and scramble constants.
template <class T>
void table(const std::string& name, int status, const T* data, size_t count) {
  if (!listed(name)) return;
  std::printf("%s %d", name.c_str(), status);
  if (!status && data) {
    std::printf(" %016llx", static_cast<unsigned long long>(sum_of(data, count * sizeof(T))));
    for (size_t i : {0, 1, 2, 31, 32, 33, 34, 35, 64, 65, 66, 67, 100, 101, 1000, 10000}) {
      if (i >= count) continue;
      std::printf(" [%zu]", i);
      print_value(reinterpret_cast<const char*>(data + i), sizeof(T));
    }
    if (count >= 20000) {
      std::printf(" last");
      print_value(reinterpret_cast<const char*>(data + count - 1), sizeof(T));
    }
  }
  std::printf("\n");
}
void tables() {
  if (!wanted("tables.")) return;
  for (int set = 99; set < 107; ++set) {
    curandDirectionVectors32_t* narrow = nullptr;
    const int s32 = curandGetDirectionVectors32(&narrow, curandDirectionVectorSet_t(set));
    table("tables.vectors32." + number(set), s32, s32 ? nullptr : narrow[0], 32 * 20000);
    for (int part = 0; part < 20 && !s32; ++part)
      table("tables.vectors32." + number(set) + ".part" + number(part), s32, narrow[part * 1000],
            32 * 1000);
    for (int one = 0; one < 12 && !s32; ++one)
      table("tables.vectors32." + number(set) + ".one" + number(one), s32, narrow[one], 32);
    curandDirectionVectors64_t* broad = nullptr;
    const int s64 = curandGetDirectionVectors64(&broad, curandDirectionVectorSet_t(set));
    table("tables.vectors64." + number(set), s64, s64 ? nullptr : broad[0], 64 * 20000);
    for (int part = 0; part < 20 && !s64; ++part)
      table("tables.vectors64." + number(set) + ".part" + number(part), s64, broad[part * 1000],
            64 * 1000);
  }
  unsigned* narrow = nullptr;
  int s = curandGetScrambleConstants32(&narrow);
  table("tables.constants32", s, narrow, 20000);
  unsigned long long* broad = nullptr;
  s = curandGetScrambleConstants64(&broad);
  table("tables.constants64", s, broad, 20000);
}

// `discrete`: what curandCreatePoissonDistribution makes.
void discrete() {
  int at = 0;
  for (double lambda : {1e-5, 0.1, 0.5, 1.0, 10.0, 63.9, 100.0, 999.5, 1000.0, 1999.0, 2000.0,
                        4000.0, 65536.5, 399999.0, 400000.0, 400001.0, 1e6, 0.0, -1.0}) {
    const std::string name = "discrete." + number(at++);
    if (!wanted(name)) continue;
    curandDiscreteDistribution_t d = nullptr;
    const int status = curandCreatePoissonDistribution(lambda, &d);
    say(name + ".created", status);
    if (status || !d) continue;
    cudaPointerAttributes about{};
    cudaPointerGetAttributes(&about, d);
    say(name + ".memory", about.type);
    curandDiscreteDistribution_st made;
    say(name + ".copied", cudaMemcpy(&made, d, sizeof made, cudaMemcpyDefault));
    if (listed(name))
      std::printf("%s %a %a method %d host_gen %u M2 %d host_M2 %d self %d\n", name.c_str(),
                  made.stddev, made.mean, int(made.method), made.host_gen, made.M2 != nullptr,
                  made.host_M2 != nullptr, made.self_host_ptr != nullptr);
    curandDistributionM2Shift_st m2;
    if (made.M2 && !cudaMemcpy(&m2, made.M2, sizeof m2, cudaMemcpyDefault)) {
      curandHistogramM2_st h;
      cudaMemcpy(&h, m2.histogram, sizeof h, cudaMemcpyDefault);
      std::vector<double> v(m2.length);
      std::vector<unsigned> to(m2.length);
      cudaMemcpy(v.data(), h.V, m2.length * sizeof(double), cudaMemcpyDefault);
      cudaMemcpy(to.data(), h.K, m2.length * sizeof(unsigned), cudaMemcpyDefault);
      if (listed(name)) {
        std::printf("%s.m2 shift %u length %u host_gen %u\n", name.c_str(), m2.shift, m2.length,
                    m2.host_gen);
        table(name + ".values", 0, v.data(), v.size());
        table(name + ".indices", 0, to.data(), to.size());
      }
    }
    cudaGetLastError();
    say(name + ".destroyed", curandDestroyDistribution(d));
  }
  if (!wanted("discrete.misuse")) return;
  say("discrete.misuse.null", curandCreatePoissonDistribution(1, nullptr));
  say("discrete.misuse.destroy_null", curandDestroyDistribution(nullptr));
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2)
    if (!std::strcmp(argv[i], "--only")) only = argv[i + 1];
  if (cudaMalloc(&on_device, most)) return 1;
  on_host = static_cast<char*>(std::malloc(most));
  {
    int version = 0, runtime = 0;
    curandGetVersion(&version);
    cudaRuntimeGetVersion(&runtime);
    cudaDeviceProp about{};
    cudaGetDeviceProperties(&about, 0);
    std::fprintf(stderr, "cuRAND %d, runtime %d, %s, %d multiprocessors\n", version, runtime,
                 about.name, about.multiProcessorCount);
  }
  tables();
  misuse_of_calls();
  discrete();
  for (const Kind& k : kinds) {
    for (const bool host : {false, true}) {
      first(k, host);
      misuse(k, host);
      calls(k, host);
      if (k.quasi) quasi(k, host);
      ordered(k, host);
      many(k, host);
      poissons(k, host);
      order_of_work(k, host);
      graph(k, host);
    }
    skewed(k);
    range(k);
  }
  return 0;
}
