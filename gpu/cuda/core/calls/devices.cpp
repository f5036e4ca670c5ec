// Settings, synchronization and reset of the current device.
#include "gpu/cuda/core/calls/devices.hpp"

#include <algorithm>

#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {
namespace {

// The range that a requested limit is clamped to (CUDA guide, "cudaDeviceSetLimit").
struct LimitRule {
  std::uint64_t least, most;
};
constexpr LimitRule limit_rules[limit_count] = {
    {0, machine::Limits::local_per_thread},
    {512 << 10, 1ull << 40},
    {4 << 20, 1ull << 40},
    {1, 0},
    {0, 1 << 20},
    {0, 128},
    {0, 1ull << 32},
    {1, 0},
};

constexpr int sync_depth_limit = 3;  // of dynamic parallelism; gone since CUDA 12

}  // namespace

Status synchronize_device() {
  Device& device = current_device();
  if (Status status = device_waitable(device); status != Status::success) return status;
  return device.synchronize();
}

Status reset_device() {
  reset_primary(Core::get().primary(current_device().ordinal));
  return Status::success;
}

Status get_limit(std::size_t* value, int limit) {
  if (!value) return Status::invalid_value;
  if (limit < 0 || limit >= limit_count || limit == sync_depth_limit)
    return Status::unsupported_limit;
  *value = current_device().limits[limit];
  return Status::success;
}

Status set_limit(int limit, std::size_t value) {
  if (limit < 0 || limit >= limit_count) return Status::unsupported_limit;
  const LimitRule rule = limit_rules[limit];
  if (rule.most < rule.least) return Status::unsupported_limit;
  if (value > rule.most) return Status::invalid_value;
  current_device().limits[limit] = std::max<std::uint64_t>(value, rule.least);
  return Status::success;
}

Status set_cache_config(int config) {
  if (config < 0 || config > 3) return Status::invalid_value;
  current_device().cache_config = config;
  return Status::success;
}

}  // namespace inflight::cuda
