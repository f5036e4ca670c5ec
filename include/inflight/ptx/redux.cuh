// Reductions of 32-bit integers over the lanes of a warp, in one instruction: PTX ISA,
// "redux.sync".
//
// `mask` has a bit for each lane that takes part. Each of them executes the instruction with the
// same mask and gets the result. With nvcc these are its intrinsics, so that it knows that the
// lanes converge there. Clang's intrinsics, at least up to 19, swap mask and value, so Clang gets
// the instruction.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight::ptx {

#if defined(__clang__) && defined(__CUDA__)
#  define INFLIGHT_REDUX(NAME, TYPE, INTRINSIC, SUFFIX)                                         \
    INFLIGHT_DEVICE TYPE NAME(std::uint32_t mask, TYPE value) {                                 \
      TYPE result;                                                                              \
      asm volatile("redux.sync." SUFFIX " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask)); \
      return result;                                                                            \
    }
#else
#  define INFLIGHT_REDUX(NAME, TYPE, INTRINSIC, SUFFIX) \
    INFLIGHT_DEVICE TYPE NAME(std::uint32_t mask, TYPE value) { return INTRINSIC(mask, value); }
#endif

// redux_add(mask, value): the sum, modulo 2^32.
INFLIGHT_REDUX(redux_add, std::uint32_t, __reduce_add_sync, "add.u32")
// Minimum and maximum, unsigned and signed.
INFLIGHT_REDUX(redux_min, std::uint32_t, __reduce_min_sync, "min.u32")
INFLIGHT_REDUX(redux_min, std::int32_t, __reduce_min_sync, "min.s32")
INFLIGHT_REDUX(redux_max, std::uint32_t, __reduce_max_sync, "max.u32")
INFLIGHT_REDUX(redux_max, std::int32_t, __reduce_max_sync, "max.s32")
// Bitwise.
INFLIGHT_REDUX(redux_and, std::uint32_t, __reduce_and_sync, "and.b32")
INFLIGHT_REDUX(redux_or, std::uint32_t, __reduce_or_sync, "or.b32")
INFLIGHT_REDUX(redux_xor, std::uint32_t, __reduce_xor_sync, "xor.b32")
#undef INFLIGHT_REDUX

}  // namespace inflight::ptx
