// The driver API's three-dimensional copies, also used by graph nodes.
#pragma once
#include "gpu/cuda/core/graph/copy_nodes.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {

// CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER.
using Side3D = DriverSide3D;
using Copy3D = DriverCopy3D;

// The copy that a structure describes. A pitch or height of 0 means the copy's width or height
// (invalid_handle: no array; invalid_value: outside the array, or an unknown type of memory).
Result<Copy> box_of(const Copy3D& box);

}  // namespace inflight::cuda::driver
