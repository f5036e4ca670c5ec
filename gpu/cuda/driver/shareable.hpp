// Files for memory without an address. A file's name describes the memory to other processes.
#pragma once
#include "gpu/cuda/driver/vmm.hpp"

namespace inflight::cuda::driver {

// Makes a new file for memory with these properties. Owns nothing if the host refuses.
host::OwnDescriptor make_file(const AllocationProperties&, std::size_t bytes);

}  // namespace inflight::cuda::driver
