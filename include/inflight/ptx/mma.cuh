// Matrix products of a warp, and the loads and stores of their fragments: PTX ISA, "mma", sm_80;
// "ldmatrix", sm_75; "stmatrix", sm_90.
//
// All lanes of the warp execute each of these. A matrix of ldmatrix and stmatrix has 8 rows of 16
// bytes. Lane i gives the shared address, a multiple of 16, of row i % 8 of matrix i / 8. A lane
// holds 4 bytes of each matrix: row lane / 4, bytes 4 (lane % 4) and up. Transposed, matrices of
// 16-bit elements have their rows and columns exchanged in the registers.
#pragma once
#include <inflight/base/config.cuh>
#include <inflight/ptx/wgmma.cuh>

namespace inflight::ptx {

// Loads Count matrices, 1, 2 or 4; only the first 8 * Count lanes' addresses matter.
#define INFLIGHT_LDMATRIX(TRANSPOSED)                                                             \
  if constexpr (Count == 1)                                                                       \
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" TRANSPOSED ".shared.b16 {%0}, [%1];"             \
                 : "=r"(to[0])                                                                    \
                 : "r"(row)                                                                       \
                 : "memory");                                                                     \
  else if constexpr (Count == 2)                                                                  \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" TRANSPOSED ".shared.b16 {%0, %1}, [%2];"         \
                 : "=r"(to[0]), "=r"(to[1])                                                       \
                 : "r"(row)                                                                       \
                 : "memory");                                                                     \
  else                                                                                            \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" TRANSPOSED ".shared.b16 {%0, %1, %2, %3}, [%4];" \
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])                             \
                 : "r"(row)                                                                       \
                 : "memory");
template <int Count, bool Transposed = false>
INFLIGHT_DEVICE void ldmatrix(std::uint32_t* to, std::uint32_t row) {
  static_assert(Count == 1 || Count == 2 || Count == 4, "ldmatrix loads 1, 2 or 4 matrices.");
  if constexpr (Transposed) {
    INFLIGHT_LDMATRIX(".trans")
  } else {
    INFLIGHT_LDMATRIX("")
  }
}
#undef INFLIGHT_LDMATRIX

// Stores them.
#define INFLIGHT_STMATRIX(TRANSPOSED)                                                             \
  if constexpr (Count == 1)                                                                       \
    asm volatile("stmatrix.sync.aligned.m8n8.x1" TRANSPOSED ".shared.b16 [%0], {%1};" ::"r"(row), \
                 "r"(from[0])                                                                     \
                 : "memory");                                                                     \
  else if constexpr (Count == 2)                                                                  \
    asm volatile("stmatrix.sync.aligned.m8n8.x2" TRANSPOSED                                       \
                 ".shared.b16 [%0], {%1, %2};" ::"r"(row),                                        \
                 "r"(from[0]), "r"(from[1])                                                       \
                 : "memory");                                                                     \
  else                                                                                            \
    asm volatile("stmatrix.sync.aligned.m8n8.x4" TRANSPOSED                                       \
                 ".shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),                                \
                 "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])                           \
                 : "memory");
template <int Count, bool Transposed = false>
INFLIGHT_DEVICE void stmatrix(std::uint32_t row, const std::uint32_t* from) {
  static_assert(Count == 1 || Count == 2 || Count == 4, "stmatrix stores 1, 2 or 4 matrices.");
  if constexpr (Transposed) {
    INFLIGHT_STMATRIX(".trans")
  } else {
    INFLIGHT_STMATRIX("")
  }
}
#undef INFLIGHT_STMATRIX

#if defined(INFLIGHT_MATRIX_INSTRUCTIONS)
// d += a * b. Text::modifiers::value is what follows `mma.sync.aligned`, such as
// ".m16n8k16.row.col.f32.bf16.bf16.f32". a has 4 registers and b 2, or a 2 and b 1; d has 4 f32 or
// s32, or 2 pairs of f16.
#  define INFLIGHT_MMA(LIST, N0, N1, N2, N3, N4, N5, N6, REGISTERS)                             \
    if constexpr (CountA == 4)                                                                  \
      asm volatile("mma.sync.aligned" N6 " {" LIST "}, {" N0 ", " N1 ", " N2 ", " N3 "}, {" N4  \
                   ", " N5 "}, {" LIST "};"                                                     \
                   : REGISTERS                                                                  \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),          \
                     "C"(Text::modifiers::value));                                              \
    else                                                                                        \
      asm volatile("mma.sync.aligned" N3 " {" LIST "}, {" N0 ", " N1 "}, {" N2 "}, {" LIST "};" \
                   : REGISTERS                                                                  \
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]), "C"(Text::modifiers::value));
#  define INFLIGHT_FOUR(HOW) HOW(d[0]), HOW(d[1]), HOW(d[2]), HOW(d[3])
template <class Text, int CountA>
INFLIGHT_DEVICE void mma_sync(float* d, const std::uint32_t* a, const std::uint32_t* b) {
  INFLIGHT_MMA("%0, %1, %2, %3", "%4", "%5", "%6", "%7", "%8", "%9", "%10", INFLIGHT_FOUR("+f"))
}
template <class Text, int CountA, int CountD>
INFLIGHT_DEVICE void mma_sync(std::uint32_t* d, const std::uint32_t* a, const std::uint32_t* b) {
  if constexpr (CountD == 4) {
    INFLIGHT_MMA("%0, %1, %2, %3", "%4", "%5", "%6", "%7", "%8", "%9", "%10", INFLIGHT_FOUR("+r"))
  } else {
#  define INFLIGHT_TWO "+r"(d[0]), "+r"(d[1])
    INFLIGHT_MMA("%0, %1", "%2", "%3", "%4", "%5", "%6", "%7", "%8", INFLIGHT_TWO)
#  undef INFLIGHT_TWO
  }
}
#  undef INFLIGHT_FOUR
#  undef INFLIGHT_MMA
#endif

// Two floats as two 16-bit numbers, rounded to nearest even; `low` is in the low half.
INFLIGHT_DEVICE std::uint32_t cvt_rn_bf16x2(float low, float high) {
  std::uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
INFLIGHT_DEVICE std::uint32_t cvt_rn_f16x2(float low, float high) {
  std::uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

}  // namespace inflight::ptx
