// Pools whose memory other processes use (CUDA runtime API, "Stream Ordered Memory Allocator").
#pragma once
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/sharing/handle.hpp"

namespace inflight::cuda {

// Stores a descriptor of a file that says where the pool lies (invalid_value: the pool was not made
// for this type of handle).
Status export_pool(void* to, const Pool& pool, int handle_type, unsigned long long flags);
// Makes a pool for memory that import_pool_memory() adds. The caller keeps the file.
Status import_pool(void** place, const void* file, int handle_type, unsigned long long flags);

// Exports an allocation of such a pool, by its first address (invalid_value: there is none).
Status export_pool_memory(SharingHandle* to, const void* pointer);
// Maps the memory and stores its first address. free_ordered() and cudaFree end the mapping once no
// work uses it (invalid_value: the memory is not of the pool that was imported; fails as
// open_shared does).
Status import_pool_memory(void** place, const std::shared_ptr<Pool>& pool,
                          const SharingHandle* handle);

}  // namespace inflight::cuda
