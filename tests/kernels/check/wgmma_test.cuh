// wgmma as macros, and tiles for its operands.
#pragma once
#include "tests/kernels/check/ptx_macros.cuh"

#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT_MULTIPLY() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT_MULTIPLY(n) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")
#define ACCUMULATORS(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define MULTIPLY(d, a, b)                                                                       \
  asm volatile(                                                                                 \
      "{ .reg .pred p;\nsetp.eq.u32 p, 0, 0;\n"                                                 \
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, " \
      "0, 0; }"                                                                                 \
      : ACCUMULATORS(d)                                                                         \
      : "l"(a), "l"(b))
// Fragments are the kernel's own registers, since compilers copy an instruction's operands.
#define FRAGMENTS(word)                                                                        \
  asm volatile(                                                                                \
      ".reg .b32 a0, a1, a2, a3; mov.b32 a0, %0; mov.b32 a1, %0; mov.b32 a2, %0; mov.b32 a3, " \
      "%0;" ::"r"(word))
#define MULTIPLY_FRAGMENTS(d, b)                                                                 \
  asm volatile(                                                                                  \
      "{ .reg .pred p;\nsetp.eq.u32 p, 0, 0;\n"                                                  \
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {a0, a1, a2, a3}, " \
      "%4, p, 1, 1, 0; }"                                                                        \
      : ACCUMULATORS(d)                                                                          \
      : "l"(b))
#define CHANGE_FRAGMENTS() asm volatile("xor.b32 a1, a1, 32768;")
#define LOAD_FRAGMENT(word) \
  asm volatile("ld.shared.b32 a1, [%0];" ::"r"(shared_address(word)) : "memory")
// In place, without the compiler's knowledge.
#define INCREASE(f) asm volatile("add.f32 %0, %0, 0f3F800000;" : "+f"(f))
// To a generic address, without the compiler's knowledge.
#define STORE(to, f) asm volatile("st.f32 [%0], %1;" ::"l"(to), "f"(f) : "memory")

constexpr int group_threads = 128, a_bytes = 64 * 32, b_bytes = 8 * 32,
              tile_bytes = a_bytes + b_bytes;

struct alignas(128) Tile {
  unsigned a[a_bytes / 4], b[b_bytes / 4];
};

inline __device__ std::uint64_t descriptor(const void* tile) {
  return shared_address(tile) >> 4 | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
}
