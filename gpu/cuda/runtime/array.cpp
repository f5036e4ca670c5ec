// CUDA arrays.
#include "gpu/cuda/core/texture/array.hpp"

#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/calls/arrays.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

namespace {

int flags_of_2d(unsigned flags) {
  return flags & (abi::array_layered | abi::array_cubemap) ? 1 : 0;
}

}  // namespace

INFLIGHT_API int cudaMallocArray(void** place, const abi::ChannelFormat* format, std::size_t width,
                                 std::size_t height, unsigned flags) {
  return entry([&] {
    if (flags_of_2d(flags)) return Status::invalid_value;
    return make_array(place, format, {width, height, 0}, flags);
  });
}
INFLIGHT_API int cudaMalloc3DArray(void** place, const abi::ChannelFormat* format,
                                   abi::Extent extent, unsigned flags) {
  return entry([&] { return make_array(place, format, extent, flags); });
}
INFLIGHT_API int cudaMallocMipmappedArray(void** place, const abi::ChannelFormat* format,
                                          abi::Extent extent, unsigned levels, unsigned flags) {
  return entry([&] { return make_mipmapped(place, format, extent, levels, flags); });
}
INFLIGHT_API int cudaGetMipmappedArrayLevel(void** place, const void* mipmapped, unsigned level) {
  return entry([&] { return array_level(place, mipmapped, level); });
}
INFLIGHT_API int cudaFreeArray(void* array) {
  return entry([&] { return free_array(array); });
}
INFLIGHT_API int cudaFreeMipmappedArray(void* mipmapped) {
  return entry([&] { return free_mipmapped(mipmapped); });
}

INFLIGHT_API int cudaGetChannelDesc(abi::ChannelFormat* format, const void* handle) {
  return entry([&] {
    const auto array = find_array(handle);
    if (!array) return Status::invalid_handle;
    return store_value(format, array->format);
  });
}

INFLIGHT_API int cudaArrayGetInfo(abi::ChannelFormat* format, abi::Extent* extent, unsigned* flags,
                                  const void* handle) {
  return entry([&] {
    const auto array = find_array(handle);
    if (!array) return Status::invalid_handle;
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return Status::success;
  });
}

INFLIGHT_API int cudaArrayGetSparseProperties(void*, const void* array) {
  return entry([&] { return ask_special_array(array); });
}
INFLIGHT_API int cudaArrayGetMemoryRequirements(void*, const void* array, int) {
  return entry([&] { return ask_special_array(array); });
}
INFLIGHT_API int cudaArrayGetPlane(void**, const void* array, unsigned) {
  return entry([&] { return ask_special_array(array); });
}
INFLIGHT_API int cudaMipmappedArrayGetSparseProperties(void*, const void* array) {
  return entry([&] { return ask_special_mipmapped(array); });
}
INFLIGHT_API int cudaMipmappedArrayGetMemoryRequirements(void*, const void* array, int) {
  return entry([&] { return ask_special_mipmapped(array); });
}
