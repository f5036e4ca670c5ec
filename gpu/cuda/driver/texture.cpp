// Driver API: texture and surface objects. Texture references are not supported.
#include <algorithm>

#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/texture/objects.hpp"
#include "gpu/cuda/driver/array.hpp"

namespace inflight::cuda::driver {
namespace {

struct Resource {  // CUDA_RESOURCE_DESC
  unsigned type;
  union {
    Handle array;
    Handle mipmapped;
    struct {
      DevicePointer pointer;
      unsigned format, channels;
      std::size_t bytes;
    } linear;
    struct {
      DevicePointer pointer;
      unsigned format, channels;
      std::size_t width, height, pitch;
    } pitched;
    int reserved[32];
  };
  unsigned flags;
};

enum TextureFlag : unsigned {
  read_as_integer = 1,
  normalized_coordinates = 2,
  srgb = 0x10,
  no_trilinear_optimisation = 0x20,
  seamless_cubemap = 0x40,
};
struct TextureDescription {  // CUDA_TEXTURE_DESC
  int address[3];
  int filter;
  unsigned flags, anisotropy;
  int mip_filter;
  float bias, least, greatest, border[4];
  int reserved[12];
};

// Conversions to the runtime's structures.
Result<abi::Resource> runtime_resource(const Resource& r) {
  abi::Resource out{};
  out.type = static_cast<int>(r.type);
  const bool linear = r.type == abi::resource_linear, pitched = r.type == abi::resource_pitched;
  if (!linear && !pitched) {
    out.array = r.array;
    return out;
  }
  const auto channels = linear ? channels_of(r.linear.format, r.linear.channels)
                               : channels_of(r.pitched.format, r.pitched.channels);
  if (!channels) return tl::unexpected(channels.error());
  if (linear)
    out.linear = {pointer(r.linear.pointer), *channels, r.linear.bytes};
  else
    out.pitched = {pointer(r.pitched.pointer), *channels, r.pitched.width, r.pitched.height,
                   r.pitched.pitch};
  return out;
}

Result<Resource> driver_resource(const abi::Resource& r) {
  Resource out{};
  out.type = static_cast<unsigned>(r.type);
  const bool linear = r.type == abi::resource_linear, pitched = r.type == abi::resource_pitched;
  if (!linear && !pitched) {
    out.array = r.array;
    return out;
  }
  const auto format = format_of(linear ? r.linear.format : r.pitched.format);
  if (!format) return tl::unexpected(format.error());
  if (linear)
    out.linear = {address(r.linear.pointer), number_of(*format), format->channels, r.linear.bytes};
  else
    out.pitched = {address(r.pitched.pointer), number_of(*format),
                   format->channels,           r.pitched.width,
                   r.pitched.height,           r.pitched.pitch};
  return out;
}

// True if the texels are integers of 8 or 16 bits. Only those can be read as normalized floats.
bool narrow_integers(const abi::Resource& r) {
  abi::ChannelFormat channels{};
  if (r.type == abi::resource_array) {
    if (const auto array = find_array(r.array)) channels = array->format;
  } else if (r.type == abi::resource_mipmapped) {
    if (const auto array = Core::get().mipmapped_arrays.find(r.mipmapped)) channels = array->format;
  } else {
    channels = r.type == abi::resource_linear ? r.linear.format : r.pitched.format;
  }
  return channels.kind != abi::channel_float && channels.x < 32;
}

abi::TextureDescription runtime_description(const TextureDescription& d, const abi::Resource& r) {
  abi::TextureDescription out{};
  std::copy(d.address, d.address + 3, out.address);
  std::copy(d.border, d.border + 4, out.border);
  out.filter = d.filter, out.mip_filter = d.mip_filter;
  out.read = !(d.flags & read_as_integer) && narrow_integers(r);
  out.normalized = (d.flags & normalized_coordinates) != 0;
  out.srgb = (d.flags & srgb) != 0;
  out.no_trilinear_optimisation = (d.flags & no_trilinear_optimisation) != 0;
  out.seamless = (d.flags & seamless_cubemap) != 0;
  out.anisotropy = d.anisotropy;
  out.bias = d.bias, out.least = d.least, out.greatest = d.greatest;
  return out;
}

TextureDescription driver_description(const abi::TextureDescription& d) {
  TextureDescription out{};
  std::copy(d.address, d.address + 3, out.address);
  std::copy(d.border, d.border + 4, out.border);
  out.filter = d.filter, out.mip_filter = d.mip_filter;
  out.flags = (d.read ? 0u : read_as_integer) | (d.normalized ? normalized_coordinates : 0u) |
              (d.srgb ? srgb : 0u) |
              (d.no_trilinear_optimisation ? no_trilinear_optimisation : 0u) |
              (d.seamless ? seamless_cubemap : 0u);
  out.anisotropy = d.anisotropy;
  out.bias = d.bias, out.least = d.least, out.greatest = d.greatest;
  return out;
}

template <class Get>
Status get_resource(ObjectHandle handle, Resource* place, Get get) {
  abi::Resource r{};
  if (Status status = get(handle, &r); status != Status::success) return status;
  const auto found = driver_resource(r);
  return found ? store_value(place, *found) : found.error().status;
}

}  // namespace

INFLIGHT_CU(cuTexObjectCreate,
            (ObjectHandle * place, const Resource* resource, const TextureDescription* description,
             const abi::ResourceView* view),
            {
              if (!place || !resource || !description) return Status::invalid_value;
              const auto r = runtime_resource(*resource);
              if (!r) return report(r);
              const auto d = runtime_description(*description, *r);
              return make_texture(place, &*r, &d, view, Filtering::allowed);
            })
INFLIGHT_CU(cuTexObjectDestroy, (ObjectHandle handle), { return destroy_texture(handle); })
INFLIGHT_CU(cuTexObjectGetResourceDesc, (Resource * place, ObjectHandle handle), {
  return get_resource(handle, place,
                      [](ObjectHandle h, abi::Resource* r) { return get_texture(h, r); });
})
INFLIGHT_CU(cuTexObjectGetTextureDesc, (TextureDescription * place, ObjectHandle handle), {
  abi::TextureDescription d{};
  const Status status = get_texture(handle, &d);
  return status == Status::success ? store_value(place, driver_description(d)) : status;
})
INFLIGHT_CU(cuTexObjectGetResourceViewDesc, (abi::ResourceView * place, ObjectHandle handle),
            { return get_texture(handle, place); })

INFLIGHT_CU(cuSurfObjectCreate, (ObjectHandle * place, const Resource* resource), {
  if (!resource) return Status::invalid_value;
  const auto r = runtime_resource(*resource);
  return r ? make_surface(place, &*r) : report(r);
})
INFLIGHT_CU(cuSurfObjectDestroy, (ObjectHandle handle), { return destroy_surface(handle); })
INFLIGHT_CU(cuSurfObjectGetResourceDesc, (Resource * place, ObjectHandle handle),
            { return get_resource(handle, place, get_surface); })

INFLIGHT_CU_INIT(cuDeviceGetTexture1DLinearMaxWidth,
                 (std::size_t * place, unsigned format, unsigned channels, int device), {
                   const auto c = channels_of(format, channels);
                   return c ? linear_texture_width(place, &*c, device) : report(c);
                 })

}  // namespace inflight::cuda::driver
