// Lookup of driver entry points through the runtime.
#pragma once
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

// Does cudaGetDriverEntryPointByVersion. `per_thread`: called by a name for per-thread default
// streams (invalid_value, not_found).
Status find_driver_entry_point(const char* name, void** place, unsigned version,
                               unsigned long long flags, bool per_thread, int* result);

}  // namespace inflight::cuda
