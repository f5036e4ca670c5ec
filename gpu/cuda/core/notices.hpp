// Notices that a device sends to a program's functions while it runs.
#pragma once
#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

// Registers a function for a device's notices; in `place` its handle (invalid_device,
// invalid_value). CUDA has notices of a budget of memory that was exceeded alone, and no device
// here has a budget: the function is never called.
Status add_notices(void** place, int device, const void* function);
// invalid_value: it was registered for no such device.
Status remove_notices(int device, const void* handle);

}  // namespace inflight::cuda
