// Driver API: CUDA arrays.
#include "gpu/cuda/driver/array.hpp"

#include <algorithm>

#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/calls/arrays.hpp"

namespace inflight::cuda::driver {
namespace {

struct Format {
  unsigned number;
  texture::Kind kind;
  std::uint8_t bits;
};
using texture::Kind;
constexpr Format formats[] = {
    {0x01, Kind::unsigned_integer, 8},  {0x02, Kind::unsigned_integer, 16},
    {0x03, Kind::unsigned_integer, 32}, {0x08, Kind::signed_integer, 8},
    {0x09, Kind::signed_integer, 16},   {0x0a, Kind::signed_integer, 32},
    {0x10, Kind::floating, 16},         {0x20, Kind::floating, 32},
};

// CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR.
struct Description {
  std::size_t width, height;
  unsigned format, channels;
};
struct Description3D {
  std::size_t width, height, depth;
  unsigned format, channels, flags;
};

Status create(Handle* place, const Description3D& d) {
  const auto channels = channels_of(d.format, d.channels);
  if (!channels) return report(channels);
  return make_array(place, &*channels, {d.width, d.height, d.depth}, d.flags);
}

Description3D describe(const Array& array) {
  const texture::Format& f = array.image.format;
  return {array.extent.width, array.extent.height, array.extent.depth,
          number_of(f),       f.channels,          array.flags};
}

}  // namespace

Result<abi::ChannelFormat> channels_of(unsigned format, unsigned channels) {
  for (const Format& f : formats)
    if (f.number == format) {
      if (channels != 1 && channels != 2 && channels != 4) return fail(Status::invalid_value);
      return cuda::channels_of({f.kind, f.bits, static_cast<std::uint8_t>(channels)});
    }
  constexpr unsigned planar = 0xb0, compressed = 0x91, last = 0xc0;
  if (format >= compressed && format <= last + 0x40)
    return fail(Status::not_supported,
                format == planar ? "planar arrays (CU_AD_FORMAT_NV12) are not supported"
                                 : "arrays of compressed or normalized formats are not supported");
  return fail(Status::invalid_value);
}

unsigned number_of(texture::Format format) {
  for (const Format& f : formats)
    if (f.kind == format.kind && f.bits == format.bits) return f.number;
  return 0;
}

Context* of_array(Handle handle) {
  const auto array = find_array(handle);
  return of_device(array ? array->device : 0);
}
Context* of_mipmapped(Handle handle) {
  const auto array = Core::get().mipmapped_arrays.find(handle);
  return of_device(array ? array->device : 0);
}

INFLIGHT_CU(cuArrayCreate_v2, (Handle * place, const Description* d), {
  if (!place || !d) return Status::invalid_value;
  return create(place, {d->width, d->height, 0, d->format, d->channels, 0});
})
INFLIGHT_CU(cuArray3DCreate_v2, (Handle * place, const Description3D* d), {
  if (!place || !d) return Status::invalid_value;
  return create(place, *d);
})
INFLIGHT_CU_AT(of_array(array), cuArrayDestroy, (Handle array),
               { return array ? free_array(array) : Status::invalid_handle; })
INFLIGHT_CU_AT(of_array(handle), cuArrayGetDescriptor_v2, (Description * place, Handle handle), {
  const auto array = find_array(handle);
  if (!array) return Status::invalid_handle;
  const Description3D d = describe(*array);
  return store_value(place, {d.width, d.height, d.format, d.channels});
})
INFLIGHT_CU_AT(of_array(handle), cuArray3DGetDescriptor_v2, (Description3D * place, Handle handle),
               {
                 const auto array = find_array(handle);
                 return array ? store_value(place, describe(*array)) : Status::invalid_handle;
               })

INFLIGHT_CU(cuMipmappedArrayCreate, (Handle * place, const Description3D* d, unsigned levels), {
  if (!place || !d) return Status::invalid_value;
  const auto channels = channels_of(d->format, d->channels);
  if (!channels) return report(channels);
  return make_mipmapped(place, &*channels, {d->width, d->height, d->depth}, levels, d->flags);
})
INFLIGHT_CU_AT(of_mipmapped(array), cuMipmappedArrayGetLevel,
               (Handle * place, Handle array, unsigned level),
               { return array_level(place, array, level); })
INFLIGHT_CU_AT(of_mipmapped(array), cuMipmappedArrayDestroy, (Handle array),
               { return array ? free_mipmapped(array) : Status::invalid_handle; })

INFLIGHT_CU_AT(of_array(array), cuArrayGetSparseProperties, (void*, Handle array),
               { return ask_special_array(array); })
INFLIGHT_CU_AT(of_array(array), cuArrayGetMemoryRequirements, (void*, Handle array, int),
               { return ask_special_array(array); })
INFLIGHT_CU_AT(of_array(array), cuArrayGetPlane, (Handle*, Handle array, unsigned),
               { return ask_special_array(array); })
INFLIGHT_CU_AT(of_mipmapped(array), cuMipmappedArrayGetSparseProperties, (void*, Handle array),
               { return ask_special_mipmapped(array); })
INFLIGHT_CU_AT(of_mipmapped(array), cuMipmappedArrayGetMemoryRequirements,
               (void*, Handle array, int), { return ask_special_mipmapped(array); })

// --- copies of bytes row by row ---

namespace {

struct Place {
  Handle array;
  std::size_t offset;  // bytes
};
CopySide side(const Place& place) {
  const auto array = find_array(place.array);
  const std::uint64_t row = array ? std::max<std::uint64_t>(array->image.levels[0].pitch, 1) : 1;
  return {.array = place.array, .x = place.offset % row, .y = place.offset / row};
}
CopySide side(const void* memory) { return {.pointer = {const_cast<void*>(memory), 0, 0, 1}}; }
CopySide side(DevicePointer memory) { return side(pointer(memory)); }

template <class To, class From>
Status copy_line(To to, From from, std::size_t bytes, Direction direction, Handle stream,
                 bool per_thread, bool asynchronous) {
  return with_stream(stream, per_thread, [&](Stream& s) {
    return copy_run(s, side(to), side(from), bytes, direction, asynchronous);
  });
}

}  // namespace

INFLIGHT_CU_TWO(cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds,
                (Handle to, std::size_t offset, const void* from, std::size_t bytes), {
                  return copy_line(Place{to, offset}, from, bytes, Direction::host_to_device,
                                   nullptr, second, false);
                })
INFLIGHT_CU_TWO(cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds,
                (void* to, Handle from, std::size_t offset, std::size_t bytes), {
                  return copy_line(static_cast<const void*>(to), Place{from, offset}, bytes,
                                   Direction::device_to_host, nullptr, second, false);
                })
INFLIGHT_CU_TWO(cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds,
                (Handle to, std::size_t offset, DevicePointer from, std::size_t bytes), {
                  return copy_line(Place{to, offset}, from, bytes, Direction::device_to_device,
                                   nullptr, second, false);
                })
INFLIGHT_CU_TWO(cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds,
                (DevicePointer to, Handle from, std::size_t offset, std::size_t bytes), {
                  return copy_line(to, Place{from, offset}, bytes, Direction::device_to_device,
                                   nullptr, second, false);
                })
INFLIGHT_CU_TWO(cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds,
                (Handle to, std::size_t to_offset, Handle from, std::size_t from_offset,
                 std::size_t bytes),
                {
                  return copy_line(Place{to, to_offset}, Place{from, from_offset}, bytes,
                                   Direction::device_to_device, nullptr, second, false);
                })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz,
                   (Handle to, std::size_t offset, const void* from, std::size_t bytes,
                    Handle stream),
                   {
                     return copy_line(Place{to, offset}, from, bytes, Direction::host_to_device,
                                      stream, second, true);
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz,
                   (void* to, Handle from, std::size_t offset, std::size_t bytes, Handle stream), {
                     return copy_line(static_cast<const void*>(to), Place{from, offset}, bytes,
                                      Direction::device_to_host, stream, second, true);
                   })

}  // namespace inflight::cuda::driver
