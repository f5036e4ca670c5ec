// Settings, synchronization and reset of the current device, for both APIs' entry points.
#pragma once
#include <cstddef>

#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

// Waits for all streams of the device. Returns the context's fault, if any.
Status synchronize_device();
// Destroys the state of the device's primary context.
Status reset_device();
// Limits by cudaLimit's numbers, clamped as the runtime does (unsupported_limit, invalid_value).
Status get_limit(std::size_t* value, int limit);
Status set_limit(int limit, std::size_t value);
Status set_cache_config(int config);

}  // namespace inflight::cuda
