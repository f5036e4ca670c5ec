// Texture and surface objects: checks of programs' descriptions, and the objects that kernels use.
#pragma once
#include <cstdint>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/texture/texture_abi.hpp"

namespace inflight::cuda {

using ObjectHandle = unsigned long long;

// What a linear filter may mix: the runtime refuses integers that are not read as floats, the
// driver does not.
enum class Filtering : std::uint8_t { as_floats, allowed };
Status make_texture(ObjectHandle* place, const abi::Resource* resource,
                    const abi::TextureDescription* description, const abi::ResourceView* view,
                    Filtering integers = Filtering::as_floats);
Status destroy_texture(ObjectHandle handle);
Status get_texture(ObjectHandle handle, abi::Resource* place);
Status get_texture(ObjectHandle handle, abi::TextureDescription* place);
Status get_texture(ObjectHandle handle, abi::ResourceView* place);  // zeros if it has none

Status make_surface(ObjectHandle* place, const abi::Resource* resource);
Status destroy_surface(ObjectHandle handle);
Status get_surface(ObjectHandle handle, abi::Resource* place);

// The maximum width of a texture of linear memory in this format, in texels.
Status linear_texture_width(std::size_t* place, const abi::ChannelFormat* format, int device);

}  // namespace inflight::cuda
