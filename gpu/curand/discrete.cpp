// Poisson distributions in device memory, which a program's kernels read.
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/cuda/core/calls/allocation.hpp"
#include "gpu/cuda/core/calls/copy.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/curand/call.hpp"
#include "gpu/curand/poisson.hpp"

namespace inflight::curand {
namespace {

// A distribution is one allocation: the structures, then the table.
struct Block {
  DiscreteDistribution distribution;
  HistogramShift shift;
  HistogramData histogram;
};

struct Distributions {
  std::mutex mutex;
  // The copies on the host, to which the structures point.
  std::map<DiscreteDistribution*, std::unique_ptr<Poisson>> live;
};
Distributions& distributions() {
  static auto& all = *new Distributions;
  return all;
}

Result create(double mean, DiscreteDistribution** place) {
  if (!place) return Result::not_initialized;
  if (!Poisson::takes(mean)) return Result::out_of_range;
  auto poisson = std::make_unique<Poisson>(mean, PoissonMethod::best);
  const Histogram& table = poisson->table;
  const std::size_t bins = table.value.size();
  const std::size_t value_bytes = bins * sizeof(double),
                    bytes = sizeof(Block) + value_bytes + bins * sizeof(std::uint32_t);
  void* memory = nullptr;
  if (cuda::allocate_device(&memory, bytes) != cuda::Status::success)
    return Result::allocation_failed;
  // The structures have the addresses that they get on the device.
  auto* block = static_cast<Block*>(memory);
  auto* value = reinterpret_cast<double*>(block + 1);
  auto* other = reinterpret_cast<std::uint32_t*>(value + bins);
  Block made{};
  made.distribution.self_host = &block->distribution;
  if (bins) {
    made.histogram = {value, table.value.data(), other, table.other.data(), 0};
    made.shift = {&block->histogram, &block->histogram, table.shift, unsigned(bins), 0};
    made.distribution.m2 = made.distribution.host_m2 = &block->shift;
    made.distribution.method = int(Method::m2);
  } else {
    made.distribution.deviation = poisson->deviation;
    made.distribution.mean = mean;
    made.distribution.method = int(Method::gauss);
  }
  std::vector<char> image(bytes);
  std::memcpy(image.data(), &made, sizeof made);
  std::memcpy(image.data() + sizeof made, table.value.data(), value_bytes);
  std::memcpy(image.data() + sizeof made + value_bytes, table.other.data(),
              bins * sizeof(std::uint32_t));
  const auto stream = cuda::live_stream(nullptr, false);
  const cuda::Status copied =
      stream
          ? cuda::copy(**stream,
                       cuda::linear(memory, image.data(), bytes, cuda::Direction::host_to_device),
                       false)
          : stream.error().status;
  if (copied != cuda::Status::success) {
    cuda::free_memory(memory);
    return result_of(copied);
  }
  *place = &block->distribution;
  Distributions& all = distributions();
  const std::lock_guard lock(all.mutex);
  all.live[*place] = std::move(poisson);
  return Result::success;
}

Result destroy(DiscreteDistribution* distribution) {
  Distributions& all = distributions();
  const std::lock_guard lock(all.mutex);
  const auto found = all.live.find(distribution);
  if (found == all.live.end()) return Result::not_initialized;
  all.live.erase(found);
  return result_of(cuda::free_memory(distribution));
}

}  // namespace
}  // namespace inflight::curand

using namespace inflight::curand;

INFLIGHT_CURAND int curandCreatePoissonDistribution(double mean, DiscreteDistribution** place) {
  return answer("curandCreatePoissonDistribution", [&] { return create(mean, place); });
}
INFLIGHT_CURAND int curandDestroyDistribution(DiscreteDistribution* distribution) {
  return answer("curandDestroyDistribution", [&] { return destroy(distribution); });
}
