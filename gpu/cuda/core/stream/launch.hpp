// A kernel launch as an API call: from pointers to arguments to work on a stream.
#pragma once
#include <cstdint>

#include "gpu/cuda/core/stream/work.hpp"

namespace inflight::cuda {

// Packs arguments given one pointer a parameter (cudaLaunchKernel's `args`). invalid_value where a
// pointer is null.
Result<std::vector<std::byte>> pack(const machine::Kernel& kernel, void* const* arguments);
// The same from one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER).
Result<std::vector<std::byte>> pack(const machine::Kernel& kernel, const void* buffer,
                                    std::uint64_t bytes);

// The same from CUDA's array of options (CU_LAUNCH_PARAM_*), as cuLaunchKernel's `extra`.
Result<std::vector<std::byte>> pack_extra(const machine::Kernel& kernel, void* const* extra);

// What CUDA checks when a launch is asked for: shape, shared memory, clusters, a cooperative grid's
// size, and that the machine can run the kernel (not_supported, told with what it lacks).
Status check_launch(const KernelWork& work, Device& device);

// The cluster a launch gets: the kernel's own if it has one, else what was asked for.
machine::Dim3 cluster_of(const machine::Kernel& kernel, const machine::Dim3& asked);

// The most dynamic shared memory `function` may use on `device` now, in bytes.
std::uint32_t dynamic_shared_limit(const Function& function, const machine::Kernel& kernel,
                                   const Device& device);

}  // namespace inflight::cuda
