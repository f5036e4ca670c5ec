// The current device's settings and its end, as programs ask for them.
#pragma once
#include <cstddef>

#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

// Waits for all of its streams; the context's fault, if any.
Status synchronize_device();
// Destroys the state of its primary context.
Status reset_device();
// Limits by cudaLimit's numbers, as the runtime bounds them (unsupported_limit, invalid_value).
Status get_limit(std::size_t* value, int limit);
Status set_limit(int limit, std::size_t value);
Status set_cache_config(int config);

}  // namespace inflight::cuda
