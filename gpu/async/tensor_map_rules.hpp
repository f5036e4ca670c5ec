// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col without the driver. Follows the documented
// rules (CUDA driver API, "Tensor Map Object Management"), and an H200's driver for cases that they
// do not cover (tests/gpu/tensor_truth.cu).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "gpu/async/tensor_map.hpp"

namespace inflight::async {

// The arguments as a program passes them. Enumerations are numbers, and pointers may be null.
struct EncodeArguments {
  const void* tensor_map = nullptr;  // destination of the result
  std::uint32_t data_type = 0;
  std::uint32_t rank = 0;
  std::uint64_t global_address = 0;
  const std::uint64_t* global_dim = nullptr;       // [rank] elements
  const std::uint64_t* global_strides = nullptr;   // [rank - 1] bytes
  const std::uint32_t* element_strides = nullptr;  // [rank]
  std::uint32_t interleave = 0, swizzle = 0, l2_promotion = 0, oob_fill = 0;
};
struct TiledArguments : EncodeArguments {
  const std::uint32_t* box_dim = nullptr;  // [rank] elements
};
struct Im2colArguments : EncodeArguments {
  const std::int32_t* lower_corner = nullptr;  // [rank - 2] of W, H, D
  const std::int32_t* upper_corner = nullptr;  // [rank - 2]
  std::uint32_t channels_per_pixel = 0, pixels_per_column = 0;
};

// A rule of boxDim and of pixelsPerColumn.
inline constexpr std::string_view rule_box_bytes =
    "makes a box of more than 233472 bytes (elements times their size)";

// The broken rule: `argument[index] = value rule`.
struct EncodeError {
  std::string_view argument;  // CUDA's spelling
  int index = -1;             // of an array's element; -1: not an array
  std::string value;
  std::string_view rule;  // "must be a multiple of 16"
  int code = 1;           // CUresult: CUDA_ERROR_INVALID_VALUE

  // "globalStrides[0] = 12 must be a multiple of 16"
  std::string sentence() const;
};

tl::expected<TensorMap, EncodeError> encode_tiled(const TiledArguments&);
tl::expected<TensorMap, EncodeError> encode_im2col(const Im2colArguments&);
// cuTensorMapEncodeIm2colWide is for compute capability 10.0 and higher: always refused.
EncodeError encode_im2col_wide();

}  // namespace inflight::async
