// The calls that create and destroy generators and set their settings.
#include <algorithm>
#include <iterator>

#include "gpu/curand/directions.hpp"
#include "gpu/curand/generator.hpp"

using namespace inflight;
using namespace inflight::curand;

namespace {

constexpr unsigned most_dimensions = 20000;

// The orderings that kinds take; all take `best` and the like unless their row says otherwise.
struct Orderings {
  Kind kind;
  bool best, seeded, dynamic;
};
constexpr Orderings orderings[] = {
    {Kind::xorwow, true, true, true},    {Kind::mrg32k3a, true, false, true},
    {Kind::mtgp32, true, false, true},   {Kind::philox, true, false, true},
    {Kind::mt19937, true, false, false},
};

bool takes(const Generator& g, Ordering ordering) {
  if (g.quasi()) return ordering == Ordering::quasi_default;
  const auto* row = std::ranges::find_if(
      orderings, [&](const Orderings& each) { return each.kind == g.start.kind; });
  if (row == std::end(orderings)) return false;
  switch (ordering) {
    case Ordering::by_default:
    case Ordering::legacy:
      return true;
    case Ordering::best:
      return !(g.start.on_host && g.start.kind == Kind::mt19937);
    case Ordering::seeded:
      return row->seeded;
    case Ordering::dynamic:
      return row->dynamic && !g.start.on_host;
    default:
      return false;
  }
}

// Sets a setting that decides the sequence.
template <class T>
Result set(Generator& g, T& setting, T value) {
  setting = value;
  g.shared.reset();
  return Result::success;
}

bool has_offset(const Generator& g) {
  return g.start.kind != Kind::mtgp32 && g.start.kind != Kind::mt19937;
}

}  // namespace

INFLIGHT_CURAND int curandCreateGenerator(Generator** place, int kind) {
  return answer("curandCreateGenerator",
                [&] { return create("curandCreateGenerator", place, kind, false); });
}
INFLIGHT_CURAND int curandCreateGeneratorHost(Generator** place, int kind) {
  return answer("curandCreateGeneratorHost",
                [&] { return create("curandCreateGeneratorHost", place, kind, true); });
}
INFLIGHT_CURAND int curandDestroyGenerator(Generator* generator) {
  return answer("curandDestroyGenerator", [&] { return destroy(generator); });
}

INFLIGHT_CURAND int curandSetStream(Generator* generator, void* stream) {
  return answer("curandSetStream", generator, [&](Generator& g) {
    g.stream = stream;
    return Result::success;
  });
}
INFLIGHT_CURAND int curandSetPseudoRandomGeneratorSeed(Generator* generator,
                                                       unsigned long long seed) {
  return answer("curandSetPseudoRandomGeneratorSeed", generator, [&](Generator& g) {
    if (g.quasi()) return Result::type_error;
    return seed == g.start.seed ? Result::success : set<std::uint64_t>(g, g.start.seed, seed);
  });
}
INFLIGHT_CURAND int curandSetGeneratorOffset(Generator* generator, unsigned long long offset) {
  return answer("curandSetGeneratorOffset", generator, [&](Generator& g) {
    return has_offset(g) ? set<std::uint64_t>(g, g.start.offset, offset) : Result::type_error;
  });
}
INFLIGHT_CURAND int curandSetGeneratorOrdering(Generator* generator, int ordering) {
  constexpr const char* name = "curandSetGeneratorOrdering";
  return answer(name, generator, [&](Generator& g) {
    if (!takes(g, Ordering(ordering))) return Result::out_of_range;
    if (Ordering(ordering) == Ordering::dynamic)
      cuda::report_once(name,
                        "CURAND_ORDERING_PSEUDO_DYNAMIC depends on the GPU, and gives the sequence "
                        "of CURAND_ORDERING_PSEUDO_DEFAULT on the software GPU.");
    return set(g, g.start.ordering, Ordering(ordering));
  });
}
INFLIGHT_CURAND int curandSetQuasiRandomGeneratorDimensions(Generator* generator, unsigned count) {
  constexpr const char* name = "curandSetQuasiRandomGeneratorDimensions";
  return answer(name, generator, [&](Generator& g) {
    if (!g.quasi()) return Result::type_error;
    if (count == 0 || count > most_dimensions) return Result::out_of_range;
    if (count > most_directions) return refuse(name, "there are 1111 dimensions");
    return set(g, g.start.dimensions, count);
  });
}
