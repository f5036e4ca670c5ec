// Formats and contexts of CUDA arrays in the driver API.
#pragma once
#include "gpu/cuda/core/texture/array.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {

// The channels of a CUarray_format (invalid_value; not_supported: planar, compressed, normalized).
Result<abi::ChannelFormat> channels_of(unsigned format, unsigned channels);
// The CUarray_format of a format.
unsigned number_of(texture::Format format);

// The contexts in which arrays were created.
Context* of_array(Handle array);
Context* of_mipmapped(Handle array);

}  // namespace inflight::cuda::driver
