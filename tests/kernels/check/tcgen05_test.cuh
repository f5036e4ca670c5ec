// Shared by the programs with mistakes about tensor memory: the instructions as macros, so that each
// is reported at the line that uses it.
#pragma once
#include <cuda_fp16.h>

#include "tests/kernels/check/ptx_macros.cuh"

#define ALLOC(to, columns)                                                                      \
  asm volatile(                                                                                 \
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(to)), \
      "r"(columns)                                                                              \
      : "memory")
#define DEALLOC(at, columns) \
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(at), "r"(columns) : "memory")
#define LOAD(word, at) \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(word) : "r"(at) : "memory")
#define STORE(at, word) \
  asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(at), "r"(word) : "memory")
#define WAIT_LOADS() asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory")
#define WAIT_STORES() asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory")
#define FENCE_BEFORE() asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory")
#define FENCE_AFTER() asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory")
#define COMMIT_TENSOR(bar)                                                                     \
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"( \
                   shared_address(bar))                                                        \
               : "memory")
// D and A (16 columns of f16) have 128 lanes, D has 16 columns. One step of k.
#define MULTIPLY_SHARED(d, a, b, accumulates)                                               \
  asm volatile(                                                                             \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"                                           \
      "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(d),                \
      "l"(matrix(a)), "l"(matrix(b)), "r"(instruction), "r"(static_cast<int>(accumulates)) \
      : "memory")
#define MULTIPLY_TENSOR(d, a, b, accumulates)                                           \
  asm volatile(                                                                         \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"                                       \
      "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;\n}" ::"r"(d),          \
      "r"(a), "l"(matrix(b)), "r"(instruction), "r"(static_cast<int>(accumulates))     \
      : "memory")
// 32 rows of 16 bytes, to all quarters of the lanes and 4 columns.
#define COPY_SCALES(to, from)                                                             \
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(rows(from)) \
               : "memory")

constexpr int d_rows = 128, d_columns = 16, step_bytes = 32;
constexpr unsigned instruction = 1 << 4 | d_columns / 8 << 17 | d_rows / 16 << 24;

// Matrices of one step of k, not swizzled.
struct alignas(1024) TileA {
  char bytes[d_rows * step_bytes];
};
struct alignas(1024) TileB {
  char bytes[d_columns * step_bytes];
};
inline __device__ unsigned long long matrix(const void* tile) {
  constexpr unsigned long long leading = 128 >> 4, stride = 256 >> 4;
  return shared_address(tile) >> 4 | leading << 16 | stride << 32 | 1ull << 46;
}
// Rows of 16 bytes that follow each other.
inline __device__ unsigned long long rows(const void* tile) {
  constexpr unsigned long long stride = 128 >> 4;
  return shared_address(tile) >> 4 | stride << 32 | 1ull << 46;
}
inline __device__ unsigned own_lanes(unsigned at) {
  return at + (threadIdx.x / 32 % 4 * 32 << 16);
}
inline __device__ void clear(void* to, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x) static_cast<unsigned*>(to)[i] = 0;
}
