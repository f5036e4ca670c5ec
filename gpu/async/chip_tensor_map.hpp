// The layout of a tensor map's 128 bytes on a chip.
#pragma once
#include <optional>

#include "gpu/async/tensor_map.hpp"

namespace inflight::async {

// Reads 128 bytes in the layout of an H100, found from maps that its driver encoded
// (tests/gpu/tensor_map_bits.h100.txt). Some compilers (the CuTe DSL's) write this layout without a
// call of CUDA. Only the first 64 bytes have a meaning. Nothing if bits are set that no map has
// there. Whether the fields agree is not checked.
std::optional<TensorMap> read_chip_layout(const void* bytes);

}  // namespace inflight::async
