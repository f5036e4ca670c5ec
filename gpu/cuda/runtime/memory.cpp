// Allocation, pinned memory, and attributes of pointers.
#include "gpu/cuda/core/calls/allocation.hpp"
#include "gpu/cuda/core/calls/shared_memory.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

INFLIGHT_API int cudaMalloc(void** place, std::size_t bytes) {
  return entry([&] { return allocate_device(place, bytes); });
}

INFLIGHT_API int cudaMallocManaged(void** place, std::size_t bytes, unsigned flags) {
  return entry([&] { return allocate_managed(place, bytes, flags); });
}

INFLIGHT_API int cudaMallocPitch(void** place, std::size_t* pitch, std::size_t width,
                                 std::size_t height) {
  return entry([&] { return allocate_rows(place, pitch, width, height); });
}

INFLIGHT_API int cudaMalloc3D(abi::PitchedPointer* place, abi::Extent extent) {
  return entry([&] { return allocate_box(place, extent); });
}

INFLIGHT_API int cudaFree(void* pointer) {
  return entry([&] { return free_memory(pointer); });
}

INFLIGHT_API int cudaMallocHost(void** place, std::size_t bytes) {
  return entry([&] { return allocate_pinned(place, bytes, 0); });
}

INFLIGHT_API int cudaHostAlloc(void** place, std::size_t bytes, unsigned flags) {
  return entry([&] { return allocate_pinned(place, bytes, flags); });
}

INFLIGHT_API int cudaFreeHost(void* pointer) {
  return entry([&] { return free_pinned(pointer); });
}

INFLIGHT_API int cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return entry([&] { return register_pinned(pointer, bytes, flags); });
}

INFLIGHT_API int cudaHostUnregister(void* pointer) {
  return entry([&] { return unregister_pinned(pointer); });
}

INFLIGHT_API int cudaHostGetDevicePointer(void** place, void* pointer, unsigned flags) {
  return entry([&] { return get_device_pointer(place, pointer, flags); });
}

INFLIGHT_API int cudaHostGetFlags(unsigned* flags, void* pointer) {
  return entry([&] { return get_pinned_flags(flags, pointer); });
}

INFLIGHT_API int cudaIpcGetMemHandle(SharingHandle* to, void* pointer) {
  return entry([&] { return export_memory(to, pointer); });
}

INFLIGHT_API int cudaIpcOpenMemHandle(void** place, SharingHandle handle, unsigned flags) {
  return entry([&] { return import_memory(place, handle, flags); });
}

INFLIGHT_API int cudaIpcCloseMemHandle(void* pointer) {
  return entry([&] { return close_imported(pointer); });
}

INFLIGHT_API int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return entry([&] { return get_memory_info(free, total); });
}

// As on a GPU, this makes no context current.
INFLIGHT_API int cudaPointerGetAttributes(abi::PointerAttributes* attributes, const void* pointer) {
  return query([&] {
    if (Status fault = current_device().fault(); fault != Status::success) return fault;
    return get_pointer_attributes(attributes, pointer);
  });
}

INFLIGHT_API abi::ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}
