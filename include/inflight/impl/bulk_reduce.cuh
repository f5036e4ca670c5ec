// cp.reduce.async.bulk: one row for each operation and type that exists (PTX ISA,
// "cp.reduce.async.bulk", table of types).
#pragma once
#if !defined(__CUDACC_RTC__)  // NVRTC programs may lack these headers
#  include <cuda_bf16.h>
#  include <cuda_fp16.h>
#endif

#include <inflight/bytes.cuh>
#include <inflight/ptx/bulk.cuh>

namespace inflight::impl {

// dst in global memory, src in this block's shared memory; completes by bulk groups.
template <reduction_op Operation, class T>
struct reduce_to_global {
  static_assert(
      never<T>,
      "No bulk reduction of this operation and type to global memory. There are: add of "
      "32- and 64-bit integers, __half, __nv_bfloat16, float and double; min and max of 32- "
      "and 64-bit integers, __half and __nv_bfloat16; inc and dec of unsigned; bit_and, "
      "bit_or and bit_xor of 32- and 64-bit integers.");
};
#define INFLIGHT_ROW(operation, type, form)                                                      \
  template <>                                                                                    \
  struct reduce_to_global<reduction_op::operation, type> {                                       \
    static INFLIGHT_DEVICE void run(std::uint64_t dst, std::uint32_t src, std::uint32_t bytes) { \
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." form                    \
                   " [%0], [%1], %2;" ::"l"(dst),                                                \
                   "r"(src), "r"(bytes)                                                          \
                   : "memory");                                                                  \
    }                                                                                            \
    static INFLIGHT_DEVICE void run(std::uint64_t dst, std::uint32_t src, std::uint32_t bytes,   \
                                    std::uint64_t policy) {                                      \
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint." form     \
                   " [%0], [%1], %2, %3;" ::"l"(dst),                                            \
                   "r"(src), "r"(bytes), "l"(policy)                                             \
                   : "memory");                                                                  \
    }                                                                                            \
  };
INFLIGHT_ROW(add, unsigned, "add.u32")
INFLIGHT_ROW(add, int, "add.s32")
INFLIGHT_ROW(add, unsigned long long, "add.u64")
INFLIGHT_ROW(add, long long, "add.u64")
INFLIGHT_ROW(add, float, "add.f32")
INFLIGHT_ROW(add, double, "add.f64")
INFLIGHT_ROW(add, __half, "add.noftz.f16")
INFLIGHT_ROW(add, __nv_bfloat16, "add.noftz.bf16")
INFLIGHT_ROW(min, unsigned, "min.u32")
INFLIGHT_ROW(min, int, "min.s32")
INFLIGHT_ROW(min, unsigned long long, "min.u64")
INFLIGHT_ROW(min, long long, "min.s64")
INFLIGHT_ROW(min, __half, "min.f16")
INFLIGHT_ROW(min, __nv_bfloat16, "min.bf16")
INFLIGHT_ROW(max, unsigned, "max.u32")
INFLIGHT_ROW(max, int, "max.s32")
INFLIGHT_ROW(max, unsigned long long, "max.u64")
INFLIGHT_ROW(max, long long, "max.s64")
INFLIGHT_ROW(max, __half, "max.f16")
INFLIGHT_ROW(max, __nv_bfloat16, "max.bf16")
INFLIGHT_ROW(inc, unsigned, "inc.u32")
INFLIGHT_ROW(dec, unsigned, "dec.u32")
INFLIGHT_ROW(bit_and, unsigned, "and.b32")
INFLIGHT_ROW(bit_and, int, "and.b32")
INFLIGHT_ROW(bit_and, unsigned long long, "and.b64")
INFLIGHT_ROW(bit_and, long long, "and.b64")
INFLIGHT_ROW(bit_or, unsigned, "or.b32")
INFLIGHT_ROW(bit_or, int, "or.b32")
INFLIGHT_ROW(bit_or, unsigned long long, "or.b64")
INFLIGHT_ROW(bit_or, long long, "or.b64")
INFLIGHT_ROW(bit_xor, unsigned, "xor.b32")
INFLIGHT_ROW(bit_xor, int, "xor.b32")
INFLIGHT_ROW(bit_xor, unsigned long long, "xor.b64")
INFLIGHT_ROW(bit_xor, long long, "xor.b64")
#undef INFLIGHT_ROW
// A pair is two elements.
template <reduction_op Operation>
struct reduce_to_global<Operation, __half2> : reduce_to_global<Operation, __half> {};
template <reduction_op Operation>
struct reduce_to_global<Operation, __nv_bfloat162> : reduce_to_global<Operation, __nv_bfloat16> {};

// dst and the mbarrier in one block of the cluster, src in this block's shared memory.
template <reduction_op Operation, class T>
struct reduce_to_cluster {
  static_assert(
      never<T>,
      "No bulk reduction of this operation and type to shared memory. There are: add of int, "
      "unsigned, long long and unsigned long long; min and max of int and unsigned; inc and dec of "
      "unsigned; bit_and, bit_or and bit_xor of int and unsigned.");
};
#define INFLIGHT_ROW(operation, type, form)                                                     \
  template <>                                                                                   \
  struct reduce_to_cluster<reduction_op::operation, type> {                                     \
    static INFLIGHT_DEVICE void run(std::uint32_t dst, std::uint32_t src, std::uint32_t bytes,  \
                                    std::uint32_t mbarrier) {                                   \
      asm volatile(                                                                             \
          "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." form \
          " [%0], [%1], %2, [%3];" ::"r"(dst),                                                  \
          "r"(src), "r"(bytes), "r"(mbarrier)                                                   \
          : "memory");                                                                          \
    }                                                                                           \
  };
INFLIGHT_ROW(add, unsigned, "add.u32")
INFLIGHT_ROW(add, int, "add.s32")
INFLIGHT_ROW(add, unsigned long long, "add.u64")
INFLIGHT_ROW(add, long long, "add.u64")
INFLIGHT_ROW(min, unsigned, "min.u32")
INFLIGHT_ROW(min, int, "min.s32")
INFLIGHT_ROW(max, unsigned, "max.u32")
INFLIGHT_ROW(max, int, "max.s32")
INFLIGHT_ROW(inc, unsigned, "inc.u32")
INFLIGHT_ROW(dec, unsigned, "dec.u32")
INFLIGHT_ROW(bit_and, unsigned, "and.b32")
INFLIGHT_ROW(bit_and, int, "and.b32")
INFLIGHT_ROW(bit_or, unsigned, "or.b32")
INFLIGHT_ROW(bit_or, int, "or.b32")
INFLIGHT_ROW(bit_xor, unsigned, "xor.b32")
INFLIGHT_ROW(bit_xor, int, "xor.b32")
#undef INFLIGHT_ROW

}  // namespace inflight::impl
