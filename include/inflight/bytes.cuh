// The types whose values may be moved as bytes by groups, tiles and copies.
#pragma once
#include <inflight/base/host_device.cuh>

struct __half;
struct __half2;
struct __nv_bfloat16;
struct __nv_bfloat162;

namespace inflight {

// True for trivially copyable types, and for CUDA's pairs of 16-bit floating-point numbers, whose
// copy constructors are user-provided. It is false for a type that holds such pairs. To declare
// that such a type may be moved as bytes:
//
//   template <>
//   inline constexpr bool inflight::moves_as_bytes<my_type> = true;
template <class T>
inline constexpr bool moves_as_bytes = std::is_trivially_copyable<T>::value;
template <class T>
inline constexpr bool moves_as_bytes<const T> = moves_as_bytes<T>;
template <>
inline constexpr bool moves_as_bytes<__half2> = true;
template <>
inline constexpr bool moves_as_bytes<__nv_bfloat162> = true;

namespace impl {

// Floating-point numbers of 16 bits, and pairs of them in a word.
template <class T>
inline constexpr bool is_half =
    std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value;
template <class T>
inline constexpr bool is_half_pair =
    std::is_same<T, __half2>::value || std::is_same<T, __nv_bfloat162>::value;
template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T> || is_half<T> || is_half_pair<T>;
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || is_real<T>;

}  // namespace impl
}  // namespace inflight
