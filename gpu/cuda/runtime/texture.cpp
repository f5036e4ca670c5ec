// Texture and surface objects.
#include "gpu/cuda/core/texture/objects.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

INFLIGHT_API int cudaCreateTextureObject(ObjectHandle* place, const abi::Resource* resource,
                                         const abi::TextureDescription* description,
                                         const abi::ResourceView* view) {
  return entry([&] { return make_texture(place, resource, description, view); });
}
INFLIGHT_API int cudaDestroyTextureObject(ObjectHandle handle) {
  return entry([&] { return destroy_texture(handle); });
}
INFLIGHT_API int cudaGetTextureObjectResourceDesc(abi::Resource* place, ObjectHandle handle) {
  return entry([&] { return get_texture(handle, place); });
}
INFLIGHT_API int cudaGetTextureObjectTextureDesc(abi::TextureDescription* place,
                                                 ObjectHandle handle) {
  return entry([&] { return get_texture(handle, place); });
}
INFLIGHT_API int cudaGetTextureObjectResourceViewDesc(abi::ResourceView* place,
                                                      ObjectHandle handle) {
  return entry([&] { return get_texture(handle, place); });
}

INFLIGHT_API int cudaCreateSurfaceObject(ObjectHandle* place, const abi::Resource* resource) {
  return entry([&] { return make_surface(place, resource); });
}
INFLIGHT_API int cudaDestroySurfaceObject(ObjectHandle handle) {
  return entry([&] { return destroy_surface(handle); });
}
INFLIGHT_API int cudaGetSurfaceObjectResourceDesc(abi::Resource* place, ObjectHandle handle) {
  return entry([&] { return get_surface(handle, place); });
}

INFLIGHT_API int cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* place,
                                                      const abi::ChannelFormat* format,
                                                      int device) {
  return entry([&] { return linear_texture_width(place, format, device); });
}
