// Mappings of other processes' memory that the program has given up. They stay until no work can
// use them.
#pragma once
#include <cstdint>

namespace inflight::cuda {

// Unmaps the range when the work that is in any device's streams now is done.
void unmap_when_unused(void* at, std::uint64_t bytes);
// Unmaps the ranges whose time has come.
void unmap_unused();

}  // namespace inflight::cuda
