// Reductions of 32-bit integers over the lanes of a warp, in one instruction: PTX ISA,
// "redux.sync".
//
// `mask` names the lanes that take part, a bit each; each of them executes the instruction with the
// same mask, and each gets the result. By nvcc's own names, so that it knows that the lanes meet
// there; Clang's, at least up to 19, take the mask for the value.
#pragma once
#include <inflight/impl/config.cuh>

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
// The least, the greatest, as unsigned and as signed numbers.
INFLIGHT_REDUX(redux_min, std::uint32_t, __reduce_min_sync, "min.u32")
INFLIGHT_REDUX(redux_min, std::int32_t, __reduce_min_sync, "min.s32")
INFLIGHT_REDUX(redux_max, std::uint32_t, __reduce_max_sync, "max.u32")
INFLIGHT_REDUX(redux_max, std::int32_t, __reduce_max_sync, "max.s32")
// Bit by bit.
INFLIGHT_REDUX(redux_and, std::uint32_t, __reduce_and_sync, "and.b32")
INFLIGHT_REDUX(redux_or, std::uint32_t, __reduce_or_sync, "or.b32")
INFLIGHT_REDUX(redux_xor, std::uint32_t, __reduce_xor_sync, "xor.b32")
#undef INFLIGHT_REDUX

}  // namespace inflight::ptx
