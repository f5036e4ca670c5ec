// The files of memory that has no address: what such a file says of itself goes with it to other
// processes.
#pragma once
#include "gpu/cuda/driver/vmm.hpp"

namespace inflight::cuda::driver {

// A fresh file for memory with these properties.
Descriptor make_file(const AllocationProperties&);

}  // namespace inflight::cuda::driver
