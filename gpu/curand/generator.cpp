// The table of generators.
#include "gpu/curand/generator.hpp"

#include <map>
#include <optional>

#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/queue/context.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::curand {
namespace {

struct Generators {
  std::mutex mutex;
  std::map<Generator*, std::shared_ptr<Generator>> live;
};
Generators& generators() {
  static auto& all = *new Generators;
  return all;
}

std::optional<Kind> kind_of(int number) {
  switch (Kind(number)) {
    case Kind::pseudo_default:
      return Kind::xorwow;
    case Kind::quasi_default:
      return Kind::sobol32;
    case Kind::test:
    case Kind::xorwow:
    case Kind::mrg32k3a:
    case Kind::mtgp32:
    case Kind::mt19937:
    case Kind::philox:
    case Kind::sobol32:
    case Kind::scrambled_sobol32:
    case Kind::sobol64:
    case Kind::scrambled_sobol64:
      return Kind(number);
  }
  return std::nullopt;
}

// A GPU prepares these generators' states in a call of its own, which it waits for.
bool prepares(Kind kind) {
  return kind == Kind::xorwow || kind == Kind::mrg32k3a || kind == Kind::philox ||
         kind == Kind::mt19937;
}

void break_capture(const cuda::Stream& stream) {
  const std::lock_guard lock(cuda::graph_mutex());
  if (const auto capture = cuda::capture_of(stream))
    cuda::invalidate(*capture, cuda::Status::capture_unsupported);
}

}  // namespace

Result create(const char* name, Generator** place, int number, bool on_host) {
  if (!place) return Result::not_initialized;
  const auto kind = kind_of(number);
  if (!kind) return Result::type_error;
  if (*kind != Kind::test && !supported(*kind))
    return refuse(name, "this kind of generator is computed only on a GPU; use another kind");
  if (!on_host) {
    if (cuda::Core::get().device_count() == 0) return Result::initialization_failed;
    if (!cuda::live_stream(nullptr, false)) return Result::initialization_failed;
  }
  auto generator = std::make_shared<Generator>();
  generator->start.kind = *kind;
  generator->start.on_host = on_host;
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  *place = generator.get();
  all.live[*place] = std::move(generator);
  return Result::success;
}

Result destroy(Generator* handle) {
  std::shared_ptr<Generator> generator;
  {
    Generators& all = generators();
    const std::lock_guard lock(all.mutex);
    const auto found = all.live.find(handle);
    if (found == all.live.end()) return Result::not_initialized;
    generator = std::move(found->second);
    all.live.erase(found);
  }
  if (generator->start.on_host) return Result::success;
  const auto stream = cuda::live_stream(generator->stream, false);
  if (stream && !cuda::capturing(**stream)) (*stream)->synchronize();
  return Result::success;
}

std::shared_ptr<Generator> find(Generator* handle) {
  Generators& all = generators();
  const std::lock_guard lock(all.mutex);
  const auto found = all.live.find(handle);
  return found == all.live.end() ? nullptr : found->second;
}

Result begin(const char* name, Generator& generator) {
  if (generator.shared) return Result::success;
  if (!supported(generator.start.kind)) return refuse(name, "a generator of kind CURAND_RNG_TEST");
  if (!generator.start.on_host && prepares(generator.start.kind)) {
    const auto stream = cuda::live_stream(generator.stream, false);
    if (!stream) return Result::preexisting_failure;
    if (cuda::capturing(**stream)) {
      break_capture(**stream);
      return Result::launch_failure;
    }
    (*stream)->synchronize();
  }
  auto shared = std::make_shared<Shared>();
  shared->sequence = make_sequence(generator.start);
  generator.shared = std::move(shared);
  generator.place = generator.start.offset;
  return Result::success;
}

}  // namespace inflight::curand
