// Makes and frees CUDA arrays, and copies runs of their bytes.
#pragma once
#include "gpu/cuda/core/texture/array.hpp"

namespace inflight::cuda {

// Allocates an array with undefined contents (invalid_value: invalid extent or flags;
// out_of_memory).
Status make_array(void** place, const abi::ChannelFormat* format, const abi::Extent& extent,
                  unsigned flags);
Status make_mipmapped(void** place, const abi::ChannelFormat* format, const abi::Extent& extent,
                      unsigned levels, unsigned flags);
Status array_level(void** place, const void* mipmapped, unsigned level);
// Waits for queued work first. Null is ignored.
Status free_array(void* array);
Status free_mipmapped(void* mipmapped);

// The status of calls for sparse, deferred or planar arrays, which do not exist here
// (invalid_value; invalid_handle: it is no array).
Status ask_special_array(const void* handle);
Status ask_special_mipmapped(const void* handle);

// Copies bytes row by row, beginning at a place in the first row, as cudaMemcpyToArray does.
Status copy_run(Stream& stream, CopySide to, CopySide from, std::size_t bytes, Direction direction,
                bool asynchronous);

}  // namespace inflight::cuda
