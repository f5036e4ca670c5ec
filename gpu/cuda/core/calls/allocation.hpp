// Allocation and release of device, managed and pinned memory outside streams, and attributes of
// pointers.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

// Each allocates on the current device, stores the address in `place`, and fails while a stream
// capture forbids it (invalid_value: no place; out_of_memory).
Status allocate_device(void** place, std::size_t bytes);
// With cudaMallocManaged's flags (invalid_value: neither global nor host).
Status allocate_managed(void** place, std::size_t bytes, unsigned flags);
// Each row begins at a multiple of 512 bytes.
Status allocate_rows(void** place, std::size_t* pitch, std::size_t width, std::size_t height);
Status allocate_box(abi::PitchedPointer* place, const abi::Extent& extent);
// Waits first, since queued work may use it (invalid_value: no such allocation).
Status free_memory(void* pointer);

// cudaHostAlloc and its relatives (host_memory.hpp), with the flags that programs pass.
Status allocate_pinned(void** place, std::size_t bytes, unsigned flags);
Status free_pinned(void* pointer);
Status register_pinned(void* pointer, std::size_t bytes, unsigned flags);
Status unregister_pinned(void* pointer);
// The address by which kernels reach pinned memory, and the flags it was made with.
Status get_device_pointer(void** place, void* pointer, unsigned flags);
Status get_pinned_flags(unsigned* flags, const void* pointer);

// Bytes of a device's memory, as cudaMemGetInfo returns them. `free` is what can be allocated: less
// than `total - used` if the host has less memory than the device. Does not build the core.
struct MemoryState {
  std::uint64_t total = 0, free = 0, used = 0;
};
MemoryState memory_state(int device);
// For the current device.
Status get_memory_info(std::size_t* free, std::size_t* total);
// For a pointer that CUDA does not know, only the host pointer is set.
Status get_pointer_attributes(abi::PointerAttributes* attributes, const void* pointer);

}  // namespace inflight::cuda
