// Lookup of kernels and variables by programs' handles, attributes of kernels, and occupancy.
#pragma once
#include <cstddef>
#include <memory>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/modules/function.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {

// The kernel for a host function, a cudaKernel_t or a cudaFunction_t (invalid_device_function:
// null; invalid_handle: nothing of the kind).
Result<std::shared_ptr<Function>> function_of(const void* handle);
// The variable with this host shadow, or the managed variable at this address.
Result<machine::Symbol> symbol_of(const void* host, int device);
// The address of `bytes` bytes at `offset` in such a variable (invalid_value: past its end).
Result<void*> symbol_range(const void* host, int device, std::size_t bytes, std::size_t offset);

// The functions below take any handle of a kernel, act on the current device, and use
// cudaFuncAttribute's numbers (invalid_value: an unknown number, or no place).

Status get_attributes(abi::FunctionAttributes* place, const void* handle);
Status set_attribute(const void* handle, int attribute, int value);
Status set_attribute(const void* handle, int attribute, int value, int ordinal);  // on `ordinal`
Status set_cache_config(const void* handle, int config);
Status set_shared_bank(const void* handle, int config);
// The parameter's offset and size in the parameter buffer, in bytes; `size` may be null.
Status get_parameter(const void* handle, std::size_t index, std::size_t* offset, std::size_t* size);

// Occupancy. `flags` are cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags's.
Status get_resident_blocks(int* place, const void* handle, int threads, std::size_t dynamic_shared,
                           unsigned flags);
// The most dynamic shared memory a block may use when `blocks` blocks share a multiprocessor.
Status get_available_shared(std::size_t* place, const void* handle, int blocks, int threads);
Status get_resident_clusters(int* place, const void* handle, const abi::LaunchConfig* config);
Status get_largest_cluster(int* place, const void* handle, const abi::LaunchConfig* config);

}  // namespace inflight::cuda
