// Cases of values in sequence: `first`, `long`, `order` and `calls`.
#pragma once
#include <vector>

#include "tests/gpu/curand/values.cuh"

namespace {

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

}  // namespace
