// The calls that write random numbers: in the generator's stream, or at once on the host.
#include "gpu/bytes/range.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/work/library_work.hpp"
#include "gpu/cuda/core/work/work.hpp"
#include "gpu/curand/generator.hpp"

namespace inflight::curand {
namespace {

// One call: what the work in the stream needs, whatever becomes of the generator meanwhile.
struct Generation {
  std::shared_ptr<Shared> shared;
  Distribution distribution;
  void* out = nullptr;
  std::size_t count = 0;
  std::uint64_t place = 0;

  void write() const {
    const std::lock_guard lock(shared->mutex);
    shared->sequence->generate(distribution, out, count, place);
  }
  void operator()(const cuda::Touch& touch) const {
    if (touch({cuda::Region{out, Checked(count) * distribution.bytes(), 1, 0, true}})) write();
  }
};

// Normal numbers of these kinds come in pairs.
bool needs_pairs(const Generator& g, Form form) {
  const bool paired = g.start.kind == Kind::xorwow || g.start.kind == Kind::mrg32k3a;
  return paired && is_normal(form);
}

// A sequence that begins again, with another seed or ordering, begins behind the numbers that were
// made. On an H200, Philox's goes on by a quarter of them.
void pass(Generator& g, std::uint64_t places) {
  g.place += places;
  g.start.offset += g.start.kind == Kind::philox ? places / 4 : places;
}

Result generate(const char* name, Generator& g, const Distribution& distribution, void* out,
                std::size_t count) {
  if (count == 0) return Result::success;
  const Form form = distribution.form;
  if (form == Form::bits ? g.wide() : form == Form::long_bits && !g.wide())
    return Result::type_error;
  if (g.quasi() && count % g.start.dimensions) return Result::length_not_multiple;
  if (needs_pairs(g, form) && count % 2) return Result::length_not_multiple;
  if (const Result begun = begin(name, g); begun != Result::success) return begun;
  const Generation generation{g.shared, distribution, out, count, g.place};
  pass(g, g.shared->sequence->places(distribution, count));
  if (g.start.on_host) {
    generation.write();
    return Result::success;
  }
  const auto stream = cuda::live_stream(g.stream, false);
  if (!stream) return Result::preexisting_failure;
  return result_of(cuda::submit(**stream, cuda::LibraryWork{name, generation}));
}

// The means for which generators that make a result of one word search in sums, as an H200's
// numbers show.
bool searches(const Generator& g, double mean) {
  constexpr double least_of_sobol = 10, least_of_mtgp = 32, greatest = 8000;
  if (g.start.kind == Kind::mtgp32) return mean >= least_of_mtgp && mean <= greatest;
  if (g.wide()) return mean < Poisson::least_rounded;
  return g.quasi() && mean >= least_of_sobol && mean <= greatest;
}

// The table of the last call serves calls with the same mean. A GPU waits for the copy of another.
Result generate_poisson(const char* name, Generator& g, unsigned* out, std::size_t count,
                        double mean, PoissonMethod method = PoissonMethod::best) {
  if (!Poisson::takes(mean)) return Result::out_of_range;
  if (searches(g, mean)) method = PoissonMethod::search;
  if (!g.poisson || g.poisson->mean != mean || g.poisson->method != method) {
    g.poisson = std::make_shared<const Poisson>(mean, method);
    const auto stream = cuda::live_stream(g.stream, false);
    if (!g.start.on_host && stream && !cuda::capturing(**stream)) (*stream)->synchronize();
  }
  Distribution distribution{Form::poisson};
  distribution.poisson = g.poisson;
  return generate(name, g, distribution, out, count);
}

int answer_generation(const char* name, Generator* generator, const Distribution& distribution,
                      void* out, std::size_t count) {
  return answer(name, generator,
                [&](Generator& g) { return generate(name, g, distribution, out, count); });
}

}  // namespace
}  // namespace inflight::curand

using namespace inflight::curand;

// Calls whose name gives the distribution, and calls that take its mean and standard deviation.
#define INFLIGHT_GENERATE(name, form, type)                                      \
  INFLIGHT_CURAND int name(Generator* generator, type* out, std::size_t count) { \
    return answer_generation(#name, generator, {form}, out, count);              \
  }
#define INFLIGHT_GENERATE_NORMAL(name, form, type)                                        \
  INFLIGHT_CURAND int name(Generator* generator, type* out, std::size_t count, type mean, \
                           type deviation) {                                              \
    return answer_generation(#name, generator, {form, mean, deviation}, out, count);      \
  }
INFLIGHT_GENERATE(curandGenerate, Form::bits, unsigned)
INFLIGHT_GENERATE(curandGenerateLongLong, Form::long_bits, unsigned long long)
INFLIGHT_GENERATE(curandGenerateUniform, Form::uniform, float)
INFLIGHT_GENERATE(curandGenerateUniformDouble, Form::uniform_double, double)
INFLIGHT_GENERATE_NORMAL(curandGenerateNormal, Form::normal, float)
INFLIGHT_GENERATE_NORMAL(curandGenerateNormalDouble, Form::normal_double, double)
INFLIGHT_GENERATE_NORMAL(curandGenerateLogNormal, Form::log_normal, float)
INFLIGHT_GENERATE_NORMAL(curandGenerateLogNormalDouble, Form::log_normal_double, double)

INFLIGHT_CURAND int curandGeneratePoisson(Generator* generator, unsigned* out, std::size_t count,
                                          double mean) {
  return answer("curandGeneratePoisson", generator, [&](Generator& g) {
    return generate_poisson("curandGeneratePoisson", g, out, count, mean);
  });
}
INFLIGHT_CURAND int curandGeneratePoissonMethod(Generator* generator, unsigned* out,
                                                std::size_t count, double mean, int method) {
  constexpr const char* name = "curandGeneratePoissonMethod";
  return answer(name, generator, [&](Generator& g) {
    if (g.quasi() || g.start.kind == Kind::mtgp32)
      return refuse(name, "methods are for XORWOW, Philox and MRG32k3a");
    if (Method(method) == Method::third)
      return generate_poisson(name, g, out, count, mean, PoissonMethod::third);
    if (Method(method) == Method::device_api)
      return generate_poisson(name, g, out, count, mean, PoissonMethod::of_device_functions);
    return Result::internal_error;
  });
}

INFLIGHT_CURAND int curandGenerateSeeds(Generator* generator) {
  return answer("curandGenerateSeeds", generator, [&](Generator& g) {
    g.shared.reset();
    return begin("curandGenerateSeeds", g);
  });
}
