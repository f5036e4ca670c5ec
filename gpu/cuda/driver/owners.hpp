// The contexts in which memory was allocated.
#pragma once
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda::driver {

// Records the current context as the owner of the allocation at `base`.
void note_owner(std::uint64_t base);
// Frees the memory that belongs to a context, which is being destroyed.
void free_memory_of(const Context& context);
Context* owner_of(const machine::Allocation& allocation);

}  // namespace inflight::cuda::driver
