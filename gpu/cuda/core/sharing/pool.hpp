// Pools whose memory other processes use (CUDA runtime API, "Stream Ordered Memory Allocator").
#pragma once
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/sharing/handle.hpp"

namespace inflight::cuda {

// A file that says where the pool lies, which programs pass on (invalid_value: the pool was not
// made to be exported so).
Status export_pool(void* to, const Pool& pool, int handle_type, unsigned long long flags);
// A pool that holds what import_pool_memory() brings. The file stays the caller's.
Status import_pool(void** place, const void* file, int handle_type, unsigned long long flags);

// Of an allocation of such a pool, by its first byte (invalid_value: it is none).
Status export_pool_memory(SharingHandle* to, const void* pointer);
// Its first byte in this process; free_ordered() and cudaFree end the mapping (invalid_value: the
// pool is not imported, or lies elsewhere; those of open_shared).
Status import_pool_memory(void** place, const std::shared_ptr<Pool>& pool,
                          const SharingHandle* handle);

}  // namespace inflight::cuda
