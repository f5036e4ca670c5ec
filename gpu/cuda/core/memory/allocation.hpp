// Memory as programs allocate and free it, outside of streams: device, managed and pinned; and what
// a pointer is.
#pragma once
#include <cstddef>

#include "gpu/cuda/core/abi.hpp"
#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

// What allocates or frees is refused while a stream capture forbids it. `place` gets the address on
// the current device (invalid_value: no place; out_of_memory).
Status allocate_device(void** place, std::size_t bytes);
// cudaMallocManaged: the flags say who may reach it first (invalid_value: neither).
Status allocate_managed(void** place, std::size_t bytes, unsigned flags);
// Rows that each begin on a boundary of 512 bytes.
Status allocate_rows(void** place, std::size_t* pitch, std::size_t width, std::size_t height);
Status allocate_box(abi::PitchedPointer* place, const abi::Extent& extent);
// Waits until nothing on the device can use it any more (invalid_value: no such allocation).
Status free_memory(void* pointer);

// cudaHostAlloc and its relatives (host_memory.hpp), with the flags that programs pass.
Status allocate_pinned(void** place, std::size_t bytes, unsigned flags);
Status free_pinned(void* pointer);
Status register_pinned(void* pointer, std::size_t bytes, unsigned flags);
Status unregister_pinned(void* pointer);
// Pinned memory as kernels reach it, and the flags that it was made with.
Status get_device_pointer(void** place, void* pointer, unsigned flags);
Status get_pinned_flags(unsigned* flags, const void* pointer);

// Of the current device, in bytes.
Status get_memory_info(std::size_t* free, std::size_t* total);
// What `pointer` is. Of a pointer that CUDA does not know only the host's side is there.
Status get_pointer_attributes(abi::PointerAttributes* attributes, const void* pointer);

}  // namespace inflight::cuda
