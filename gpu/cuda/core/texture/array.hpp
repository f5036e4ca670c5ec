// CUDA arrays: memory for texels that programs access only through handles, copies and textures.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/core/texture/texture_abi.hpp"
#include "gpu/texture/image.hpp"

namespace inflight::cuda {

// A cudaArray_t or CUarray.
struct Array {
  int device = 0;
  abi::ChannelFormat format{};
  abi::Extent extent{};   // as requested: missing dimensions are 0
  unsigned flags = 0;     // abi::ArrayFlag
  texture::Image image;   // of one level
  bool is_level = false;  // a level of a mipmapped array, in its memory
};

// A cudaMipmappedArray_t or CUmipmappedArray.
struct MipmappedArray {
  int device = 0;
  abi::ChannelFormat format{};
  abi::Extent extent{};
  unsigned flags = 0;
  texture::Image image;
  std::vector<std::shared_ptr<Array>> levels;
};

// invalid_channel_descriptor: textures have no such format.
Result<texture::Format> format_of(const abi::ChannelFormat& channels);
abi::ChannelFormat channels_of(texture::Format format);

// Forgets the arrays of a device that is reset. Their memory is freed with the device's other
// memory.
void forget_arrays(int device);

// The array of a handle, or null.
std::shared_ptr<Array> find_array(const void* handle);

// --- copies ---

// One side of a copy: an array, or pitched memory.
struct CopySide {
  const void* array = nullptr;      // or
  abi::PitchedPointer pointer{};    // with its pitch, and a slice's rows as height
  std::size_t x = 0, y = 0, z = 0;  // x in bytes
};
// A copy of `width` bytes × rows × slices (invalid_handle: no array; invalid_value: it does not
// fit).
Result<Copy> array_copy(const CopySide& to, const CopySide& from, std::size_t width,
                        std::size_t height, std::size_t depth, Direction direction);
// From a cudaMemcpy3DParms (invalid_value: null, or outside an array; invalid_handle: no array).
Result<Copy> copy_of(const abi::Copy3D* box);

// The position in its array at which a copy's side begins.
abi::Position position_in(const void* array, const void* pointer);

}  // namespace inflight::cuda
