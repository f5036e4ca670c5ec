// Memory and contexts whose synchronous operations always wait, even where CUDA may return early.
#pragma once
#include "gpu/cuda/core/base/status.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::cuda {

// Sets CU_POINTER_ATTRIBUTE_SYNC_MEMOPS of the allocation that contains `inside` (invalid_value:
// there is none). Setting it to true waits for the latest work of the device's legacy stream.
Status set_always_synchronous(std::uint64_t inside, bool always);
// The attribute of an allocation. It is true for new managed memory, as on an H200.
bool always_synchronous(const machine::Allocation& allocation);

// True if synchronous operations on the memory always wait, by its attribute or by the current
// context's flag (cudaDeviceSyncMemops).
bool always_synchronous(const void* memory);

}  // namespace inflight::cuda
