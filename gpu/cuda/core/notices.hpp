// Asynchronous notifications that a device sends to functions of the program.
#pragma once
#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

// Registers a function for a device's notifications and stores the registration's handle in `place`
// (invalid_device, invalid_value). CUDA's only notification says that a memory budget was exceeded.
// No device here has a budget, so the function is never called.
Status add_notices(void** place, int device, const void* function);
// invalid_value: the handle is not registered for this device.
Status remove_notices(int device, const void* handle);

}  // namespace inflight::cuda
