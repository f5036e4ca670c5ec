// Cooperative launches on several devices in one call.
#pragma once
#include <cstdint>
#include <span>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

struct DeviceLaunch {
  const void* function = nullptr;
  abi::Dim3 grid, block;
  std::size_t dynamic_shared = 0;  // bytes
  const void* stream = nullptr;
  void* const* arguments = nullptr;
};

// CUDA driver API, cuLaunchCooperativeKernelMultiDevice: by default all kernels wait for the
// earlier work of all the streams, and later work in any of the streams waits for all kernels.
enum MultiDeviceFlags : unsigned { no_wait_before = 1, no_wait_behind = 2 };

// Launches the same kernel with the same shape once per device (invalid_value). All launches are
// checked before any begins.
Status launch_on_devices(std::span<const DeviceLaunch> launches, unsigned flags);

}  // namespace inflight::cuda
