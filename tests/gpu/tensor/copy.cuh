// One tensor copy on the device in every PTX form, with shared memory before and after it.
#pragma once
#include <cuda.h>

#include <cstdint>

#include "case.hpp"

namespace tensor_truth {

struct Job {
  std::uint32_t copy;  // 0 load, 1 store, 2 reduce
  std::uint32_t op, rank, im2col, shared;
  std::uint32_t expected;  // bytes that complete_tx should count
  std::int32_t at[5];
  std::uint16_t offset[3];
};
constexpr std::uint32_t unknown_tx = 0xffffffff;

#define COORDINATES_1 "%3"
#define COORDINATES_2 "%3, %4"
#define COORDINATES_3 "%3, %4, %5"
#define COORDINATES_4 "%3, %4, %5, %6"
#define COORDINATES_5 "%3, %4, %5, %6, %7"
#define AT_1 "r"(j.at[0])
#define AT_2 AT_1, "r"(j.at[1])
#define AT_3 AT_2, "r"(j.at[2])
#define AT_4 AT_3, "r"(j.at[3])
#define AT_5 AT_4, "r"(j.at[4])
#define OFFSETS_3 "h"(j.offset[0])
#define OFFSETS_4 OFFSETS_3, "h"(j.offset[1])
#define OFFSETS_5 OFFSETS_4, "h"(j.offset[2])

#define LOAD_TILE(d)                                                                    \
  asm volatile("cp.async.bulk.tensor." #d                                               \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " \
               "{" COORDINATES_##d "}], [%2];" ::"r"(box),                              \
               "l"(map), "r"(bar), AT_##d                                               \
               : "memory")
#define LOAD_IM2COL(d, offsets)                                                           \
  asm volatile("cp.async.bulk.tensor." #d                                                 \
               "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, " \
               "{" COORDINATES_##d "}], [%2], {" offsets "};" ::"r"(box),                 \
               "l"(map), "r"(bar), AT_##d, OFFSETS_##d                                    \
               : "memory")
// bar is unused. It keeps the coordinates' operand numbers the same.
#define STORE(d, mode)                                                               \
  asm volatile("{ .reg .b32 unused; mov.b32 unused, %2;\n\tcp.async.bulk.tensor." #d \
               "d.global.shared::cta." mode ".bulk_group [%1, {" COORDINATES_##d     \
               "}], [%0]; }" ::"r"(box),                                             \
               "l"(map), "r"(bar), AT_##d                                            \
               : "memory")
#define REDUCE(d, op, mode)                                                                 \
  asm volatile("{ .reg .b32 unused; mov.b32 unused, %2;\n\tcp.reduce.async.bulk.tensor." #d \
               "d.global.shared::cta." op "." mode ".bulk_group [%1, {" COORDINATES_##d     \
               "}], [%0]; }" ::"r"(box),                                                    \
               "l"(map), "r"(bar), AT_##d                                                   \
               : "memory")

__device__ inline void load(const Job& j, const void* map, std::uint32_t box, std::uint32_t bar) {
  switch (j.rank + 10 * j.im2col) {
    case 1:
      LOAD_TILE(1);
      break;
    case 2:
      LOAD_TILE(2);
      break;
    case 3:
      LOAD_TILE(3);
      break;
    case 4:
      LOAD_TILE(4);
      break;
    case 5:
      LOAD_TILE(5);
      break;
    case 13:
      LOAD_IM2COL(3, "%6");
      break;
    case 14:
      LOAD_IM2COL(4, "%7, %8");
      break;
    case 15:
      LOAD_IM2COL(5, "%8, %9, %10");
      break;
  }
}

__device__ inline void store(const Job& j, const void* map, std::uint32_t box, std::uint32_t bar) {
  switch (j.rank + 10 * j.im2col) {
    case 1:
      STORE(1, "tile");
      break;
    case 2:
      STORE(2, "tile");
      break;
    case 3:
      STORE(3, "tile");
      break;
    case 4:
      STORE(4, "tile");
      break;
    case 5:
      STORE(5, "tile");
      break;
    case 13:
      STORE(3, "im2col_no_offs");
      break;
    case 14:
      STORE(4, "im2col_no_offs");
      break;
    case 15:
      STORE(5, "im2col_no_offs");
      break;
  }
}

#define REDUCE_ALL(op)                 \
  switch (j.rank + 10 * j.im2col) {    \
    case 1:                            \
      REDUCE(1, op, "tile");           \
      break;                           \
    case 2:                            \
      REDUCE(2, op, "tile");           \
      break;                           \
    case 3:                            \
      REDUCE(3, op, "tile");           \
      break;                           \
    case 4:                            \
      REDUCE(4, op, "tile");           \
      break;                           \
    case 5:                            \
      REDUCE(5, op, "tile");           \
      break;                           \
    case 13:                           \
      REDUCE(3, op, "im2col_no_offs"); \
      break;                           \
    case 14:                           \
      REDUCE(4, op, "im2col_no_offs"); \
      break;                           \
    case 15:                           \
      REDUCE(5, op, "im2col_no_offs"); \
      break;                           \
  }                                    \
  break

__device__ inline void reduce(const Job& j, const void* map, std::uint32_t box, std::uint32_t bar) {
  switch (j.op) {
    case op_add:
      REDUCE_ALL("add");
    case op_min:
      REDUCE_ALL("min");
    case op_max:
      REDUCE_ALL("max");
    case op_inc:
      REDUCE_ALL("inc");
    case op_dec:
      REDUCE_ALL("dec");
    case op_and:
      REDUCE_ALL("and");
    case op_or:
      REDUCE_ALL("or");
    case op_xor:
      REDUCE_ALL("xor");
  }
}

__device__ inline void init(std::uint32_t bar) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
}
__device__ inline std::uint64_t word(std::uint32_t bar) {
  std::uint64_t bits;
  asm volatile("ld.volatile.shared::cta.b64 %0, [%1];" : "=l"(bits) : "r"(bar) : "memory");
  return bits;
}
// The bits of a fresh mbarrier after complete_tx of `bytes` bytes.
__device__ inline std::uint64_t word_after(std::uint32_t bar, std::uint32_t bytes) {
  init(bar);
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
  return word(bar);
}
__device__ inline bool becomes(std::uint32_t bar, std::uint64_t bits, long long cycles) {
  for (const long long start = clock64(); clock64() - start < cycles;)
    if (word(bar) == bits) return true;
  return word(bar) == bits;
}

__device__ inline void pause(long long cycles) {
  for (const long long start = clock64(); clock64() - start < cycles;) {
  }
}

// Tests whether the copy's complete_tx counts `expected` bytes, by comparing the word with that of
// a second mbarrier. Then completes the phase and waits for it, as programs do. Bytes are counted
// in parts, so the word may briefly have the expected value: it has to stay there.
__device__ inline std::uint32_t completed_tx(std::uint32_t bar, std::uint32_t other,
                                             std::uint32_t expected) {
  const std::uint64_t wanted = word_after(other, expected);
  becomes(bar, wanted, 2000000);
  pause(20000);
  if (word(bar) != wanted) return unknown_tx;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(expected)
               : "memory");
  std::uint32_t done = 0;
  for (const long long start = clock64(); !done && clock64() - start < 10000000;)
    asm volatile(
        "{ .reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n\t"
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar)
        : "memory");
  return done ? expected : unknown_tx;
}

__device__ inline std::uint32_t perform(const Job& j, const void* map, std::uint32_t arena,
                                        std::uint32_t bar) {
  const std::uint32_t box = arena + j.shared;
  if (j.copy == 0) {
    init(bar);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    load(j, map, box, bar);
    return completed_tx(bar, bar + 8, j.expected);
  }
  j.copy == 1 ? store(j, map, box, bar) : reduce(j, map, box, bar);
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  return 0;
}

// `image` is shared memory before and after the copy.
__global__ void copy_kernel(const __grid_constant__ CUtensorMap map, Job job, uint4* image,
                            std::uint32_t* tx) {
  extern __shared__ unsigned char dynamic[];
  __shared__ alignas(16) std::uint64_t bars[2];
  const std::uint32_t start = static_cast<std::uint32_t>(__cvta_generic_to_shared(dynamic));
  const std::uint32_t arena = (start + 1023) / 1024 * 1024;
  uint4* const shared = reinterpret_cast<uint4*>(dynamic + (arena - start));
  for (std::uint32_t i = threadIdx.x; i < shared_bytes / 16; i += blockDim.x) shared[i] = image[i];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0)
    *tx = perform(job, &map, arena, static_cast<std::uint32_t>(__cvta_generic_to_shared(bars)));
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < shared_bytes / 16; i += blockDim.x) image[i] = shared[i];
}

// --- tensormap.replace ---------------------------------------------------------------------------
#define REPLACE_B32(field, ordinal)                                               \
  asm volatile("tensormap.replace.tile." field ".global.b1024.b32 [%0], " ordinal \
               "%1;" ::"l"(map),                                                  \
               "r"(static_cast<std::uint32_t>(r.value))                           \
               : "memory");                                                       \
  break
#define REPLACE_B64(field, ordinal)                                               \
  asm volatile("tensormap.replace.tile." field ".global.b1024.b64 [%0], " ordinal \
               "%1;" ::"l"(map),                                                  \
               "l"(r.value)                                                       \
               : "memory");                                                       \
  break
#define REPLACE_IMMEDIATE(field, value)                                                        \
  asm volatile("tensormap.replace.tile." field ".global.b1024.b32 [%0], " value ";" ::"l"(map) \
               : "memory");                                                                    \
  break

// Only sm_90a has the instruction. nvcc also compiles this file for sm_90.
__global__ void replace_kernel(void* map, Replace r) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  switch (r.field * 100 + r.ordinal + (r.field >= 7 ? r.value : 0)) {
    case 100:
      REPLACE_B64("global_address", "");
    case 200:
      REPLACE_B32("rank", "");
    case 300:
      REPLACE_B32("box_dim", "0, ");
    case 301:
      REPLACE_B32("box_dim", "1, ");
    case 302:
      REPLACE_B32("box_dim", "2, ");
    case 400:
      REPLACE_B32("global_dim", "0, ");
    case 401:
      REPLACE_B32("global_dim", "1, ");
    case 402:
      REPLACE_B32("global_dim", "2, ");
    case 500:
      REPLACE_B64("global_stride", "0, ");
    case 501:
      REPLACE_B64("global_stride", "1, ");
    case 600:
      REPLACE_B32("element_stride", "0, ");
    case 601:
      REPLACE_B32("element_stride", "1, ");
    case 602:
      REPLACE_B32("element_stride", "2, ");
    case 701:
      REPLACE_IMMEDIATE("elemtype", "1");
    case 703:
      REPLACE_IMMEDIATE("elemtype", "3");
    case 707:
      REPLACE_IMMEDIATE("elemtype", "7");
    case 708:
      REPLACE_IMMEDIATE("elemtype", "8");
    case 709:
      REPLACE_IMMEDIATE("elemtype", "9");
    case 800:
      REPLACE_IMMEDIATE("interleave_layout", "0");
    case 900:
      REPLACE_IMMEDIATE("swizzle_mode", "0");
    case 901:
      REPLACE_IMMEDIATE("swizzle_mode", "1");
    case 902:
      REPLACE_IMMEDIATE("swizzle_mode", "2");
    case 903:
      REPLACE_IMMEDIATE("swizzle_mode", "3");
    case 1000:
      REPLACE_IMMEDIATE("fill_mode", "0");
    case 1001:
      REPLACE_IMMEDIATE("fill_mode", "1");
    default:
      __trap();
  }
#else
  __trap();
#endif
}

}  // namespace tensor_truth
