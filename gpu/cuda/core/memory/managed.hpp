// Managed memory: advice and prefetching. There is one memory, so they are checked and remembered.
#pragma once
#include <cstddef>

#include "gpu/cuda/core/abi.hpp"
#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

// Whether the range lies in one managed allocation.
bool is_managed(const void* pointer, std::size_t bytes);
// `advice` and `attribute` are cudaMemoryAdvise and cudaMemRangeAttribute by their numbers
// (invalid_value, invalid_device).
Status advise(const void* pointer, std::size_t bytes, int advice, const abi::Location& location);
Status range_attribute(void* data, std::size_t bytes, int attribute, const void* pointer,
                       std::size_t range);
Status prefetch(const void* pointer, std::size_t bytes, const abi::Location& location);

}  // namespace inflight::cuda
