// The driver API's three-dimensional copies, also used by graph nodes.
#pragma once
#include <cstddef>

#include "gpu/cuda/core/graph/graph.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {

// CUmemorytype.
enum class MemoryType : unsigned { host = 1, device = 2, array = 3, unified = 4 };

// One side of CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER.
struct Side3D {
  std::size_t x, y, z, level;  // x in bytes
  MemoryType type;
  const void* host;
  unsigned long long device;
  void* array;
  void* context;  // of the PEER structure only; else reserved
  std::size_t pitch, height;
};
struct Copy3D {
  Side3D from, to;
  std::size_t width, height, depth;  // width in bytes
};

// The copy that a structure describes. A pitch or height of 0 means the copy's width or height
// (invalid_handle: no array; invalid_value: outside the array, or an unknown type of memory).
Result<Copy> box_of(const Copy3D& box);
// The work of a graph's node (invalid_value: null; else as above).
Result<Work> work_of(const Copy3D* box);
// The parameters of a copy's node (invalid_value: the node does not copy, or there is no place).
Status get_copy_node(const void* node, Copy3D* place);

}  // namespace inflight::cuda::driver
