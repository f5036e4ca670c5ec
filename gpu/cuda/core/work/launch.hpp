// Kernel launches: from an API call's parameters to work on a stream.
#pragma once
#include <cstdint>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/work/work.hpp"

namespace inflight::cuda {

// Packs arguments that are given as one pointer per parameter (cudaLaunchKernel's `args`).
// invalid_value: a pointer is null.
Result<std::vector<std::byte>> pack(const machine::Kernel& kernel, void* const* arguments);
// The same from one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER).
Result<std::vector<std::byte>> pack(const machine::Kernel& kernel, const void* buffer,
                                    std::uint64_t bytes);

// The same from CUDA's array of options (CU_LAUNCH_PARAM_*), as cuLaunchKernel's `extra`.
Result<std::vector<std::byte>> pack_extra(const machine::Kernel& kernel, void* const* extra);

inline machine::Dim3 dim3_of(const abi::Dim3& d) { return {d.x, d.y, d.z}; }

// A launch from a program's parameters. Arguments are given as one pointer each, or packed by
// `extra`.
Result<KernelWork> kernel_work(Device& device, const void* function, const machine::Dim3& grid,
                               const machine::Dim3& block, void* const* arguments,
                               void* const* extra, std::size_t dynamic_shared);

// Checks a kernel's launch: the machine's rules (gpu/machine/launch/check), and whether the machine
// can run the kernel (not_supported; the report lists what is missing).
Status check_launch(const KernelWork& work, Device& device);
// The kernel of the work, linked for its device.
Result<LinkedKernel> linked_kernel(const KernelWork& work);

// The launch in the machine's form, without parameters.
machine::Launch machine_launch(const KernelWork& work, const machine::Kernel& kernel,
                               const Device& device);
// CUDA's code for the fault that ended a launch.
Status status_of(machine::FaultKind kind);

// The cluster shape of a launch: the kernel's own if it has one, else the requested one.
machine::Dim3 cluster_of(const machine::Kernel& kernel, const machine::Dim3& requested);

// The most blocks that a cluster of the kernel may have on `device` now.
std::uint64_t largest_cluster(const Function& function, const Device& device);
// The most dynamic shared memory `function` may use on `device` now, in bytes.
std::uint32_t dynamic_shared_limit(const Function& function, const machine::Kernel& kernel,
                                   const Device& device);

}  // namespace inflight::cuda
