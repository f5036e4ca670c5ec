// Memory and contexts whose synchronous operations always wait, also where CUDA would return early.
#pragma once
#include "gpu/cuda/core/report/status.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::cuda {

// CU_POINTER_ATTRIBUTE_SYNC_MEMOPS of the memory that `inside` lies in (invalid_value: there is
// none). To set it waits for the operations that were begun before.
Status set_always_synchronous(std::uint64_t inside, bool always);
// Managed memory has it from its begin on, as an H200 says.
bool always_synchronous(const machine::Allocation& allocation);

// Does a synchronous operation on the memory wait, by its attribute or by the current context's
// flag (cudaDeviceSyncMemops)?
bool always_synchronous(const void* memory);

}  // namespace inflight::cuda
