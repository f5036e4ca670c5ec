// The driver API's three-dimensional copies, also used by graph nodes.
#pragma once
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {

// CUmemorytype.
enum class MemoryType : unsigned { host = 1, device = 2, array = 3, unified = 4 };

// CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER.
struct Side3D {
  std::size_t x, y, z, level;
  MemoryType type;
  const void* host;
  DevicePointer device;
  Handle array;
  Handle context;  // of the PEER structure only; else reserved
  std::size_t pitch, height;
};
struct Copy3D {
  Side3D from, to;
  std::size_t width, height, depth;
};

// The copy that a structure describes. A pitch or height of 0 means the copy's width or height
// (invalid_handle: no array; invalid_value: outside the array, or an unknown type of memory).
Result<Copy> box_of(const Copy3D& box);

}  // namespace inflight::cuda::driver
