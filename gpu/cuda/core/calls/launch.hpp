// Launches of kernels with the configuration that a program gives.
#pragma once
#include "gpu/cuda/core/work/launch.hpp"

namespace inflight::cuda {

// Launches into `stream` with the configuration and its attributes. The stream in the configuration
// is ignored (invalid_value, not_supported: an attribute).
Status launch(Stream& stream, const abi::LaunchConfig& config, const void* function,
              void* const* arguments, void* const* extra);

}  // namespace inflight::cuda
