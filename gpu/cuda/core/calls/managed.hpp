// Managed memory: advice and prefetching. Device and host share one memory here, so both are
// checked and recorded, and move no data.
#pragma once
#include <cstddef>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

class Stream;

// True if the range lies in one managed allocation.
bool is_managed(const void* pointer, std::size_t bytes);
// True for a device of this process and for the host's memory.
bool is_known(const abi::Location& location);
// `advice` and `attribute` are cudaMemoryAdvise and cudaMemRangeAttribute by their numbers
// (invalid_value, invalid_device).
Status advise(const void* pointer, std::size_t bytes, int advice, const abi::Location& location);
Status range_attribute(void* data, std::size_t bytes, int attribute, const void* pointer,
                       std::size_t range);
// The same for several attributes, each with its own place and size.
Status range_attributes(void* const* data, const std::size_t* bytes, const int* attributes,
                        std::size_t count, const void* pointer, std::size_t range);
Status prefetch(const void* pointer, std::size_t bytes, const abi::Location& location);
// The same in stream order (invalid_value: flags are not 0).
Status prefetch(Stream& stream, const void* pointer, std::size_t bytes,
                const abi::Location& location, unsigned flags);
// cudaStreamAttachMemAsync.
Status attach(Stream& stream, const void* pointer, unsigned flags);

}  // namespace inflight::cuda
