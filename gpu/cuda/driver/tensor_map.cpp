// Driver API: tensor maps (CUDA driver API, "Tensor Map Object Management"). gpu/async defines
// tensor maps and the rules for their arguments. This file reports a broken rule and returns the
// driver's code.
#include "gpu/async/tensor_map.hpp"

#include <fmt/format.h>

#include <cstring>

#include "gpu/async/tensor_map_rules.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

constexpr int first_with_tensor_maps = 90, first_with_packed_types = 100;  // sm numbers

int architecture() { return current_device().profile.architecture.number; }

Status refuse(std::string_view call, std::string_view sentence, Status status) {
  Call::hold();
  Call::refuses_input();
  report(sentence.starts_with(call) ? std::string(sentence)
                                    : fmt::format("{}: {}", call, sentence));
  return status;
}
Status refuse(std::string_view call, const async::EncodeError& error) {
  return refuse(call, error.sentence(), Status(error.code));
}

// Checks that the current device supports these arguments.
Status check_device(std::string_view call, const async::EncodeArguments& a) {
  if (architecture() < first_with_tensor_maps)
    return refuse(call, "tensor maps need a device of compute capability 9.0 or higher",
                  Status::not_supported);
  const bool newer = a.data_type >= async::tensor_type_count || a.swizzle > 3;
  if (newer && architecture() >= first_with_packed_types)
    return refuse(call,
                  fmt::format("tensorDataType = {}, swizzle = {}: packed types and 128-byte "
                              "swizzles of larger atoms are not supported by the software GPU",
                              a.data_type, a.swizzle),
                  Status::not_supported);
  return Status::success;
}

template <class Arguments, class Encode>
Status encode(std::string_view call, void* to, const Arguments& arguments, Encode encode) {
  if (Status status = check_device(call, arguments); status != Status::success) return status;
  const auto map = encode(arguments);
  if (!map) return refuse(call, map.error());
  const async::OpaqueTensorMap bytes = async::pack(*map);
  std::memcpy(to, &bytes, sizeof bytes);
  return Status::success;
}

// The address must be 16-byte aligned, or 32-byte aligned for the layout of 32-byte slices.
Status replace_address(void* map, const void* global) {
  constexpr std::string_view call = "cuTensorMapReplaceAddress";
  if (!map) return refuse(call, "tensorMap must not be null", Status::invalid_value);
  const DevicePointer target = address(global);
  const auto old = async::unpack(map);
  if (!old)
    return refuse(call, fmt::format("tensorMap: {}", old.error().sentence), Status::invalid_value);
  const unsigned alignment = old->interleave == async::Interleave::b32 ? 32 : 16;
  if (target % alignment != 0)
    return refuse(
        call,
        fmt::format("globalAddress = {:#x} must be aligned to {} bytes{}", target, alignment,
                    alignment == 32 ? " for CU_TENSOR_MAP_INTERLEAVE_32B" : ""),
        Status::invalid_value);
  // After these checks, replace() cannot refuse the field or the bytes.
  return async::replace(map, async::TensorMapField::global_address, 0, target)
             ? Status::success
             : Status::invalid_value;
}

}  // namespace

INFLIGHT_CU(cuTensorMapEncodeTiled,
            (void* map, unsigned data_type, unsigned rank, void* global_address,
             const std::uint64_t* global_dim, const std::uint64_t* global_strides,
             const std::uint32_t* box_dim, const std::uint32_t* element_strides,
             unsigned interleave, unsigned swizzle, unsigned l2_promotion, unsigned oob_fill),
            {
              async::TiledArguments a{
                  {map, data_type, rank, address(global_address), global_dim, global_strides,
                   element_strides, interleave, swizzle, l2_promotion, oob_fill},
                  box_dim};
              return encode("cuTensorMapEncodeTiled", map, a, async::encode_tiled);
            })

INFLIGHT_CU(cuTensorMapEncodeIm2col,
            (void* map, unsigned data_type, unsigned rank, void* global_address,
             const std::uint64_t* global_dim, const std::uint64_t* global_strides,
             const int* lower_corner, const int* upper_corner, unsigned channels_per_pixel,
             unsigned pixels_per_column, const std::uint32_t* element_strides, unsigned interleave,
             unsigned swizzle, unsigned l2_promotion, unsigned oob_fill),
            {
              async::Im2colArguments a{
                  {map, data_type, rank, address(global_address), global_dim, global_strides,
                   element_strides, interleave, swizzle, l2_promotion, oob_fill},
                  lower_corner,
                  upper_corner,
                  channels_per_pixel,
                  pixels_per_column};
              return encode("cuTensorMapEncodeIm2col", map, a, async::encode_im2col);
            })

INFLIGHT_CU(cuTensorMapEncodeIm2colWide,
            (void*, unsigned, unsigned, void*, const std::uint64_t*, const std::uint64_t*, int, int,
             unsigned, unsigned, const std::uint32_t*, unsigned, unsigned, unsigned, unsigned,
             unsigned),
            {
              if (architecture() >= first_with_packed_types)
                return refuse("cuTensorMapEncodeIm2colWide",
                              "im2col::w and im2col::w::128 are not supported by the software GPU",
                              Status::not_supported);
              const async::EncodeError error = async::encode_im2col_wide();
              return refuse("cuTensorMapEncodeIm2colWide", error);
            })

INFLIGHT_CU(cuTensorMapReplaceAddress, (void* map, void* global_address),
            { return replace_address(map, global_address); })

}  // namespace inflight::cuda::driver
