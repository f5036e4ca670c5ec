// CUDA arrays: memory for texels that programs access only through handles, copies and textures.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/core/report/status.hpp"
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

// Allocates an array with undefined contents (invalid_value: invalid extent or flags;
// out_of_memory).
Status make_array(void** place, const abi::ChannelFormat* format, const abi::Extent& extent,
                  unsigned flags);
Status make_mipmapped(void** place, const abi::ChannelFormat* format, const abi::Extent& extent,
                      unsigned levels, unsigned flags);
Status array_level(void** place, const void* mipmapped, unsigned level);
// Waits for queued work first. Null is ignored.
Status free_array(void* array);
Status free_mipmapped(void* mipmapped);
// Forgets the arrays of a device that is reset. Their memory is freed with the device's other
// memory.
void forget_arrays(int device);

// The array of a handle, or null.
std::shared_ptr<Array> find_array(const void* handle);

// The status of calls for sparse, deferred or planar arrays, which do not exist here
// (invalid_value; invalid_handle: it is no array).
Status ask_special_array(const void* handle);
Status ask_special_mipmapped(const void* handle);

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
// Copies bytes row by row, beginning at a place in the first row, as cudaMemcpyToArray does.
Status copy_run(Stream& stream, CopySide to, CopySide from, std::size_t bytes, Direction direction,
                bool asynchronous);
// The position in its array at which a copy's side begins.
abi::Position position_in(const void* array, const void* pointer);

}  // namespace inflight::cuda
