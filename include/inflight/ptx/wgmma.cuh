// Matrix products of a warpgroup: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
// sm_90a.
//
// A warpgroup is four warps whose first is a multiple of four; all its lanes execute each of these.
// Text names a form: Text::modifiers::value is what follows `wgmma.mma_async.sync.aligned`, such
// as ".m64n256k16.f32.bf16.bf16", and Text::end::value the immediate operands, such as ", 1, 1, 0,
// 0". Both are static arrays of const char.
#pragma once
#include <inflight/base/accumulator_rows.cuh>
#include <inflight/base/config.cuh>

// nvcc's -arch=sm_90a compiles for plain sm_90 too, which ptxas then checks. There these functions
// are traps.
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#  define INFLIGHT_ONLY_SM_90A(...) __trap()
#else
#  define INFLIGHT_ONLY_SM_90A(...) __VA_ARGS__
#endif

namespace inflight::ptx {

// Registers and shared memory that this warp wrote before are visible to its products after.
INFLIGHT_DEVICE void wgmma_fence() {
  INFLIGHT_ONLY_SM_90A(asm volatile("wgmma.fence.sync.aligned;" ::: "memory"));
}

// The products so far that belong to no group yet are a group.
INFLIGHT_DEVICE void wgmma_commit_group() {
  INFLIGHT_ONLY_SM_90A(asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"));
}

// Waits until at most the `Newer` newest groups are in flight.
template <int Newer>
INFLIGHT_DEVICE void wgmma_wait_group() {
  static_assert(Newer >= 0 && Newer <= 7, "wgmma.wait_group leaves at most 7 groups in flight.");
  INFLIGHT_ONLY_SM_90A(asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Newer) : "memory"));
}

// nvcc and NVRTC take an instruction's modifiers as an operand from CUDA 13 on; Clang does not.
#if !defined(__clang__) && defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ >= 13
#  define INFLIGHT_MATRIX_INSTRUCTIONS 1
#endif

#if defined(INFLIGHT_MATRIX_INSTRUCTIONS)
#  define INFLIGHT_WGMMA_SHARED(COUNT, LIST, REGISTERS, N0, N1, N2, N3, N4, N5, N6, N7)           \
    if constexpr (Count == COUNT)                                                                 \
      INFLIGHT_ONLY_SM_90A(asm volatile("{ .reg .pred p; setp.ne.b32 p, " N2                      \
                                        ", 0; wgmma.mma_async.sync.aligned" N3 " {" LIST "}, " N0 \
                                        ", " N1 ", p" N4 "; }"                                    \
                                        : REGISTERS                                               \
                                        : "l"(a), "l"(b), "r"(std::uint32_t(accumulate)),         \
                                          "C"(Text::modifiers::value), "C"(Text::end::value)));
#  define INFLIGHT_WGMMA_REGISTERS(COUNT, LIST, REGISTERS, N0, N1, N2, N3, N4, N5, N6, N7)      \
    if constexpr (Count == COUNT)                                                               \
      INFLIGHT_ONLY_SM_90A(asm volatile(                                                        \
          "{ .reg .pred p; setp.ne.b32 p, " N5 ", 0; wgmma.mma_async.sync.aligned" N6 " {" LIST \
          "}, {" N0 ", " N1 ", " N2 ", " N3 "}, " N4 ", p" N7 "; }"                             \
          : REGISTERS                                                                           \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(std::uint32_t(accumulate)), \
            "C"(Text::modifiers::value), "C"(Text::end::value)));

// d = a * b, or d + a * b if `accumulate`. a and b are matrix descriptors; d is f32.
template <class Text, int Count>
INFLIGHT_DEVICE void wgmma_mma_async(float (&d)[Count], std::uint64_t a, std::uint64_t b,
                                     bool accumulate) {
  static_assert(Count % 4 == 0 && Count <= 128, "A wgmma has 4 to 128 sums of f32 a lane.");
  INFLIGHT_ACCUMULATORS_OF_4(INFLIGHT_WGMMA_SHARED, "+f")
}
// The same for s32, or for pairs of f16.
template <class Text, int Count>
INFLIGHT_DEVICE void wgmma_mma_async(std::uint32_t (&d)[Count], std::uint64_t a, std::uint64_t b,
                                     bool accumulate) {
  static_assert(Count % 2 == 0 && Count <= 128, "A wgmma has 2 to 128 registers of sums a lane.");
  INFLIGHT_ACCUMULATORS_OF_4(INFLIGHT_WGMMA_SHARED, "+r")
  INFLIGHT_ACCUMULATORS_OF_2(INFLIGHT_WGMMA_SHARED, "+r")
}

// The same with a in registers.
template <class Text, int Count>
INFLIGHT_DEVICE void wgmma_mma_async(float (&d)[Count], const std::uint32_t (&a)[4],
                                     std::uint64_t b, bool accumulate) {
  static_assert(Count % 4 == 0 && Count <= 128, "A wgmma has 4 to 128 sums of f32 a lane.");
  INFLIGHT_ACCUMULATORS_OF_4(INFLIGHT_WGMMA_REGISTERS, "+f")
}
template <class Text, int Count>
INFLIGHT_DEVICE void wgmma_mma_async(std::uint32_t (&d)[Count], const std::uint32_t (&a)[4],
                                     std::uint64_t b, bool accumulate) {
  static_assert(Count % 2 == 0 && Count <= 128, "A wgmma has 2 to 128 registers of sums a lane.");
  INFLIGHT_ACCUMULATORS_OF_4(INFLIGHT_WGMMA_REGISTERS, "+r")
  INFLIGHT_ACCUMULATORS_OF_2(INFLIGHT_WGMMA_REGISTERS, "+r")
}
#  undef INFLIGHT_WGMMA_SHARED
#  undef INFLIGHT_WGMMA_REGISTERS
#endif

// The registers of each thread of this warp from now on, a multiple of 8 from 24 to 256. All warps
// of a warpgroup execute the same. `inc` waits until the block has them free; `dec` frees them.
template <int Registers>
INFLIGHT_DEVICE void setmaxnreg_inc() {
  INFLIGHT_ONLY_SM_90A(asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers)));
}
template <int Registers>
INFLIGHT_DEVICE void setmaxnreg_dec() {
  INFLIGHT_ONLY_SM_90A(asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers)));
}

}  // namespace inflight::ptx

#undef INFLIGHT_ONLY_SM_90A
