// NCCL's names for types and operators.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <nccl.h>

#include <inflight/operators.cuh>

namespace inflight::impl {

// Does not compile for types that NCCL does not reduce.
template <class T>
inline constexpr ncclDataType_t nccl_type = [] {
  static_assert(never<T>,
                "NCCL reduces integers of 8, 32 and 64 bits, float, double, __half and "
                "__nv_bfloat16.");
  return ncclInt8;
}();
template <>
inline constexpr ncclDataType_t nccl_type<signed char> = ncclInt8;
template <>
inline constexpr ncclDataType_t nccl_type<unsigned char> = ncclUint8;
template <>
inline constexpr ncclDataType_t nccl_type<int> = ncclInt32;
template <>
inline constexpr ncclDataType_t nccl_type<unsigned> = ncclUint32;
template <>
inline constexpr ncclDataType_t nccl_type<long> = ncclInt64;
template <>
inline constexpr ncclDataType_t nccl_type<unsigned long> = ncclUint64;
template <>
inline constexpr ncclDataType_t nccl_type<long long> = ncclInt64;
template <>
inline constexpr ncclDataType_t nccl_type<unsigned long long> = ncclUint64;
template <>
inline constexpr ncclDataType_t nccl_type<float> = ncclFloat32;
template <>
inline constexpr ncclDataType_t nccl_type<double> = ncclFloat64;
template <>
inline constexpr ncclDataType_t nccl_type<__half> = ncclFloat16;
template <>
inline constexpr ncclDataType_t nccl_type<__nv_bfloat16> = ncclBfloat16;

// An operator with its own type, or, for `<>`, with the type of the values.
template <class Op, class T>
inline constexpr ncclRedOp_t nccl_operation = [] {
  static_assert(never<Op>, "NCCL reduces by plus, less and greater.");
  return ncclSum;
}();
template <class T>
inline constexpr ncclRedOp_t nccl_operation<plus<T>, T> = ncclSum;
template <class T>
inline constexpr ncclRedOp_t nccl_operation<plus<void>, T> = ncclSum;
template <class T>
inline constexpr ncclRedOp_t nccl_operation<less<T>, T> = ncclMin;
template <class T>
inline constexpr ncclRedOp_t nccl_operation<less<void>, T> = ncclMin;
template <class T>
inline constexpr ncclRedOp_t nccl_operation<greater<T>, T> = ncclMax;
template <class T>
inline constexpr ncclRedOp_t nccl_operation<greater<void>, T> = ncclMax;

}  // namespace inflight::impl
