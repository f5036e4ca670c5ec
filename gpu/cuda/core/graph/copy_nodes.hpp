// Graph nodes that copy. Such a node keeps its parameters as the program gave them, because
// programs read them back.
#pragma once
#include <variant>

#include "gpu/cuda/core/abi.hpp"
#include "gpu/cuda/core/graph/graph.hpp"

namespace inflight::cuda {

// CUmemorytype.
enum class MemoryType : unsigned { host = 1, device = 2, array = 3, unified = 4 };

// One side of CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER.
struct DriverSide3D {
  std::size_t x, y, z, level;  // x in bytes
  MemoryType type;
  const void* host;
  unsigned long long device;
  void* array;
  void* context;  // of the PEER structure only; else reserved
  std::size_t pitch, height;
};
struct DriverCopy3D {
  DriverSide3D from, to;
  std::size_t width, height, depth;  // width in bytes
};

// The parameters in the form of the API that the node was made with.
struct GivenCopy {
  std::variant<abi::Copy3D, DriverCopy3D> parameters;
};

Result<Work> copy_node_work(const abi::Copy3D* node);  // invalid_value: null
Work copy_node_work(Copy copy, const DriverCopy3D& given);

// The parameters of a copy's node (invalid_value: the node does not copy, or there is no place).
// The other API's form is converted.
Status get_copy_node(const void* node, abi::Copy3D* place);
Status get_copy_node(const void* node, DriverCopy3D* place);

}  // namespace inflight::cuda
