// In which context a program's memory was allocated.
#pragma once
#include "gpu/cuda/core/core.hpp"

namespace inflight::cuda::driver {

// The allocation that begins there is the current context's.
void note_owner(std::uint64_t base);
Context* owner_of(const machine::Allocation& allocation);

}  // namespace inflight::cuda::driver
