// Asynchronous notifications that a device sends to functions of the program.
#pragma once
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

// Registers a function for a device's notifications and stores a handle (invalid_device,
// invalid_value). CUDA notifies only of an exceeded memory budget. No device here has one, so the
// function is never called.
Status add_notices(void** place, int device, const void* function);
// invalid_value: the handle is not registered for this device.
Status remove_notices(int device, const void* handle);

}  // namespace inflight::cuda
