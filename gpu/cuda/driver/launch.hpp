// CUlaunchConfig, and how it becomes the runtime's.
#pragma once
#include "gpu/cuda/driver/runtime.hpp"

namespace inflight::cuda::driver {

struct LaunchConfig {  // CUlaunchConfig
  abi::Dim3 grid, block;
  unsigned dynamic_shared;
  Handle stream;
  abi::LaunchAttribute* attributes;
  unsigned attribute_count;
};

abi::LaunchConfig runtime_config(const LaunchConfig&, bool per_thread);

// A parameter buffer, and a pointer into it for each parameter.
struct Arguments {
  std::vector<std::byte> bytes;
  std::vector<void*> pointers;
};

// Out of cuLaunchKernel's `extra` list, for the kernel on the current device (invalid_value: no
// such list, or its buffer is too small).
Result<Arguments> arguments_of(Handle function, void* const* extra);

}  // namespace inflight::cuda::driver
