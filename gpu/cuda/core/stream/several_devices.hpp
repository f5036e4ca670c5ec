// One cooperative launch on each of several devices, as one call.
#pragma once
#include <cstdint>
#include <span>

#include "gpu/cuda/core/abi.hpp"
#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

struct DeviceLaunch {
  const void* function = nullptr;
  abi::Dim3 grid, block;
  std::size_t dynamic_shared = 0;  // bytes
  const void* stream = nullptr;
  void* const* arguments = nullptr;
};

// CUDA driver API, cuLaunchCooperativeKernelMultiDevice: by default all kernels wait for what each
// of the streams holds, and what comes behind in any of them waits for all kernels.
enum MultiDeviceFlags : unsigned { no_wait_before = 1, no_wait_behind = 2 };

// One launch a device, of one kernel in one shape (invalid_value). All are checked before any
// begins.
Status launch_on_devices(std::span<const DeviceLaunch> launches, unsigned flags);

}  // namespace inflight::cuda
