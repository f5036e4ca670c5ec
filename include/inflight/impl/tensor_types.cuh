// The element types of tensor maps, and the mapping from C++ types to them.
#pragma once
#include <inflight/base/host_device.cuh>
#include <inflight/bytes.cuh>

namespace inflight {

// The values are those of CUDA's CUtensorMapDataType. The _ftz types flush subnormals to zero where
// a reduction adds; tf32 rounds f32 as it is loaded.
enum class tensor_type : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  of_pointer  // the type that matches the pointer's element type
};

namespace impl {

// Returns of_pointer if T matches no element type. All one-byte types, __nv_fp8_e4m3 and the like
// included, are u8; a pair of 16-bit numbers is u32.
template <class T>
INFLIGHT_HOST_DEVICE constexpr tensor_type tensor_type_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same<U, float>::value) return tensor_type::f32;
  if constexpr (std::is_same<U, double>::value) return tensor_type::f64;
  if constexpr (std::is_same<U, __half>::value) return tensor_type::f16;
  if constexpr (std::is_same<U, __nv_bfloat16>::value) return tensor_type::bf16;
  if constexpr (is_half_pair<U>) return tensor_type::u32;
  if constexpr (std::is_integral<U>::value || std::is_enum<U>::value) {
    if constexpr (sizeof(U) == 1) return tensor_type::u8;
    if constexpr (sizeof(U) == 2) return tensor_type::u16;
    if constexpr (sizeof(U) == 4)
      return std::is_signed<U>::value ? tensor_type::s32 : tensor_type::u32;
    if constexpr (sizeof(U) == 8)
      return std::is_signed<U>::value ? tensor_type::s64 : tensor_type::u64;
  }
  if constexpr (sizeof(U) == 1 && std::is_trivially_copyable<U>::value) return tensor_type::u8;
  return tensor_type::of_pointer;
}

}  // namespace impl
}  // namespace inflight
